// A deployment that is not there. The rest is tested with real servers.

#include "cli/doctor.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

using namespace holdfast::test;
using holdfast::config;
using holdfast::cli::context;
using holdfast::cli::doctor;
namespace asio = boost::asio;

namespace {

struct outcome {
    int code = -1;
    std::string out;
};

outcome examined(bool json) {
    outcome made;
    run_with_deadline([&](asio::any_io_executor) -> asio::awaitable<void> {
        std::ostringstream out;
        std::ostringstream err;
        config settings;
        settings.unix_socket = "/nowhere/redis.sock";
        settings.password = "secret";
        context const with{.config = settings, .json = json, .colours = {}, .out = out, .err = err};
        auto running = doctor(with, {});
        made.code = co_await std::move(running);
        made.out = out.str();
    });
    return made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_a_fault) {
    auto const text = examined(false);
    BOOST_TEST(text.code == 1);
    BOOST_TEST(text.out.starts_with("/nowhere/redis.sock\n  fault    connection "), text.out);
    BOOST_TEST(text.out.find("secret") == std::string::npos);
    auto const json = examined(true);
    BOOST_TEST(json.code == 1);
    BOOST_TEST(json.out.starts_with(R"({"worst":"fault")"), json.out);
    BOOST_TEST(json.out.ends_with("\n"));
}
