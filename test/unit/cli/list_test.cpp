// The age of a token, and a deployment that is not there. The rest is tested with real servers.

#include "cli/list.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

using namespace holdfast::test;
using namespace holdfast::cli;
using namespace std::chrono_literals;
using holdfast::config;
namespace asio = boost::asio;

BOOST_AUTO_TEST_CASE(a_token_tells_when_it_was_taken_if_it_is_a_time) {
    BOOST_TEST((age_of(1'795'657'452'000'000, 1'795'657'455'000'000) == 3s));
    BOOST_TEST(!age_of(0, 1'795'657'455'000'000));
    BOOST_TEST(!age_of(17, 1'795'657'455'000'000));
    // The clock was set back.
    BOOST_TEST(!age_of(1'795'657'455'000'001, 1'795'657'455'000'000));
    BOOST_TEST(!age_of(1'795'657'455'000'001, 0));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_has_an_exit_code) {
    run_with_deadline([](asio::any_io_executor) -> asio::awaitable<void> {
        std::ostringstream out;
        std::ostringstream err;
        config settings;
        settings.unix_socket = "/nowhere/redis.sock";
        context const
            with{.config = settings, .json = false, .colours = {}, .out = out, .err = err};
        auto running = list(with, "*");
        auto const code = co_await std::move(running);
        BOOST_TEST(code == 69);
        BOOST_TEST(out.str().empty());
        BOOST_TEST(err.str().starts_with("holdfast: /nowhere/redis.sock: "), err.str());
    });
}
