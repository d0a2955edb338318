// Which of two names is shown, and a deployment that is not there. The rest is tested with real
// servers.

#include "cli/list.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>
#include <vector>

using namespace holdfast::test;
using namespace holdfast::cli;
using holdfast::config;
namespace asio = boost::asio;

namespace {

std::string shown(std::vector<lock_row> rows) {
    drop_false_twins(rows);
    std::string names;
    for (auto const& row : rows) {
        names += (names.empty() ? "" : " ") + row.name;
    }
    return names;
}

lock_row held(std::string name) {
    lock_row row{.name = std::move(name)};
    row.holders.push_back({.id = "x"});
    return row;
}

lock_row waited_for(std::string name) {
    return {.name = std::move(name), .waiting = 1};
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_waits_in_a_queue_of_two_names_waits_for_the_one_that_is_held) {
    BOOST_TEST(shown({held("a"), waited_for("{a}")}) == "a");
    BOOST_TEST(shown({waited_for("a"), held("{a}")}) == "{a}");
    BOOST_TEST(shown({held("a"), held("{a}")}) == "a {a}");
    BOOST_TEST(shown({waited_for("a"), waited_for("{a}")}) == "a");
    BOOST_TEST(shown({waited_for("{a}")}) == "{a}");
    BOOST_TEST(shown({waited_for("a"), held("b")}) == "a b");
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_has_an_exit_code) {
    run_with_deadline([](asio::any_io_executor) -> asio::awaitable<void> {
        std::ostringstream out;
        std::ostringstream err;
        config settings;
        settings.unix_socket = "/nowhere/redis.sock";
        context const
            with{.config = settings, .json = false, .colours = {}, .out = out, .err = err};
        auto running = list(with, {});
        auto const code = co_await std::move(running);
        BOOST_TEST(code == 69);
        BOOST_TEST(out.str().empty());
        BOOST_TEST(err.str().starts_with("holdfast: /nowhere/redis.sock: "), err.str());
    });
}
