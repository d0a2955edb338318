// What is made of the rights that a user lacks, and of writes that the server refuses.

#include "cli/rights.hpp"
#include "unit/cli/replies.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace holdfast::cli;
using namespace holdfast::test;
using need = rights_group::need;

namespace {

// A group that lacks these rights, and has one more.
rights_group lacking(std::string purpose, need needed, std::vector<std::string> rules) {
    rights_group made{std::move(purpose), needed, {{right::kind::command, "+get", {}}}};
    for (auto& rule : rules) {
        made.rights.push_back({.what = right::kind::command, .rule = std::move(rule), .tries = {}});
        made.rights.back().refused = true;
    }
    return made;
}

std::vector<finding> check(std::vector<rights_group> const& groups) {
    return check_rights(groups, "alice");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_right_that_all_locks_need_is_a_fault_and_others_are_warnings) {
    auto found =
        check({lacking("locks", need::always, {}), lacking("hand-over", need::better, {})});
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST((found[0].what == severity::ok));

    found = check({lacking("locks", need::always, {"+evalsha", "~app:*"})});
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST((found[0].what == severity::fault));
    BOOST_TEST(found[0].hint == "ACL SETUSER alice +evalsha ~app:*");

    found = check({lacking("hand-over", need::better, {"+zadd"})});
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST((found[0].what == severity::warning));
    BOOST_TEST(found[0].hint == "ACL SETUSER alice +zadd");
}

BOOST_AUTO_TEST_CASE(kinds_of_locks_share_a_warning_and_no_right_is_named_twice) {
    auto const found = check(
        {lacking("locks", need::always, {"~*"}),
         lacking("fair locks", need::kind, {"+zadd", "~redisson_lock_queue:{*"}),
         lacking("semaphores", need::kind, {"+zadd", "+zcard"}),
         lacking("latches", need::kind, {})}
    );
    BOOST_REQUIRE(found.size() == 2U);
    BOOST_TEST((found[1].what == severity::warning));
    BOOST_TEST(found[1].text.ends_with("fair locks, semaphores"));
    BOOST_TEST(found[1].hint == "if they are used: ACL SETUSER alice +zadd +zcard");
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_writes_is_a_fault) {
    BOOST_TEST((check_writes({nil(), refusal("WRONGTYPE x")}).what == severity::ok));
    for (std::string const code :
         {"OOM", "READONLY", "MISCONF", "NOREPLICAS", "BUSY", "LOADING", "CLUSTERDOWN", "MASTERDOWN"
         }) {
        auto const found = check_writes({nil(), refusal(code + " and why")});
        BOOST_TEST((found.what == severity::fault), code);
        BOOST_TEST(found.text.ends_with(code + " and why"), found.text);
        BOOST_TEST(!found.hint.empty(), code);
    }
}
