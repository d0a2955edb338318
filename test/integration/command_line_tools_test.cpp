// What operators see on the command line: inspect and force-release.

#include "support/child_process.hpp"
#include "support/one_server.hpp"
#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

constexpr auto long_enough = 60s;

child_process start(redis_server const& server, words const& arguments, bool with_input = false) {
    words all{HOLDFAST_TEST_PROGRAM, "--url", server.url()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return child_process{
        all,
        {.standard_error = child_output::pipe,
         .standard_input = with_input ? child_input::pipe : child_input::none}
    };
}

std::string output_of(redis_server const& server, words const& arguments, int code = 0) {
    auto program = start(server, arguments);
    auto output = program.read_all(long_enough);
    BOOST_TEST(program.wait(long_enough) == code, output);
    return output;
}

bool has(std::string const& text, std::string const& part) {
    return text.find(part) != text.npos;
}

// Somebody who holds the lock "a" until its input ends.
child_process holder_of_a(redis_server const& server) {
    words const command{"run", "a", "--", "sh", "-c", "echo mine; read line; exit 0"};
    auto holder = start(server, command, true);
    BOOST_TEST(holder.read_line(long_enough).value_or("") == "mine");
    return holder;
}

}  // namespace

BOOST_AUTO_TEST_CASE(inspect_shows_whose_connections_a_holder_has) {
    redis_server server;
    BOOST_TEST(has(output_of(server, {"inspect", "a"}), "'a'  free"));
    auto holder = holder_of_a(server);
    auto const text = output_of(server, {"inspect", "a"});
    BOOST_TEST(has(text, "'a'  held"));
    // The program is its own child's parent: `run` was started directly.
    auto const process = "/" + std::to_string(holder.pid()) + "'";
    BOOST_TEST(has(text, process + " at " + server.unix_socket() + "\n"), text);
    auto const json = output_of(server, {"--json", "inspect", "a"});
    BOOST_TEST(has(json, R"("name":"a","kind":"lock","held":true,"waiting":0,"holder":")"), json);
    BOOST_TEST(has(json, R"("client":{"name":"holdfast@)"), json);
    // Nothing for a terminal in what goes elsewhere, unless it is asked for.
    BOOST_TEST(!has(text, "\x1b["));
    BOOST_TEST(has(output_of(server, {"inspect", "a", "--color", "always"}), "\x1b["));
    server.probe().set("text", "hello");
    BOOST_TEST(has(output_of(server, {"inspect", "text"}, 65), "cannot inspect 'text'"));
}

BOOST_AUTO_TEST_CASE(force_release_takes_a_lock_away_once) {
    redis_server server;
    auto holder = holder_of_a(server);
    BOOST_TEST(output_of(server, {"force-release", "a"}) == "'a' was taken from its holder\n");
    BOOST_TEST(!server.probe().exists("a"));
    auto const again = output_of(server, {"force-release", "a", "--json"}, 1);
    BOOST_TEST(again == "{\"name\":\"a\",\"released\":false}\n");
    holder.close_input();
    // The release finds that the lock was not its own any more.
    BOOST_TEST(holder.wait(long_enough) == 73);
}
