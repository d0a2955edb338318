// How permissions are tried, and that refusals are told from other errors.

#include "cli/rights.hpp"

#include "unit/cli/replies.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace holdfast::cli;
using namespace holdfast::test;
using holdfast::config;
using holdfast::detail::script_dialect;

namespace {

// No part of it is in any word that keys begin with.
std::string const some_name = "holdfast-doctor-1";

std::set<std::string> rules_of(
    std::vector<rights_group> const& all,
    std::vector<std::string> const& purposes
) {
    std::set<std::string> rules;
    for (auto const& group : all) {
        if (std::ranges::find(purposes, group.purpose) != purposes.end()) {
            for (auto const& one : group.rights) {
                rules.insert(one.rule);
            }
        }
    }
    return rules;
}

}  // namespace

// A command with too few arguments is refused before the user's rights are looked at: then nothing
// says whether the user has them.
BOOST_AUTO_TEST_CASE(each_command_is_tried_with_as_many_arguments_as_it_needs) {
    std::set<std::string> const with_a_key_alone{
        "+del",
        "+exists",
        "+get",
        "+hgetall",
        "+hkeys",
        "+incr",
        "+llen",
        "+persist",
        "+pttl",
        "+zcard",
    };
    for (auto const& group : rights_for({}, some_name)) {
        for (auto const& one : group.rights) {
            bool const has_key_alone =
                one.what == right::kind::command && one.tries.front().size() == 2U;
            bool const is_subscription = one.subscribes;
            BOOST_TEST(
                (!has_key_alone || is_subscription || with_a_key_alone.contains(one.rule)),
                one.rule
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(the_rules_are_for_all_names_with_the_prefix) {
    config settings;
    settings.key_prefix = "app:";
    auto const rules = rules_of(
        rights_for(settings, "app:holdfast-doctor-1"),
        {"locks", "hand-over", "semaphores", "read/write locks", "latches"}
    );
    for (std::string const rule :
         {"~app:*",
          "~redisson_lock_token:{app:*",
          "~holdfast_queue:{app:*",
          "~{app:*",
          "~holdfast_semaphore_heard:{app:*",
          "~redisson_countdownlatch__channel__{app:*",
          "~holdfast_done:{app:*",
          "&redisson_lock__channel:{app:*",
          "&holdfast_waiters:{app:*",
          "&holdfast_client:*",
          "&redisson_rwlock:{app:*",
          "+evalsha",
          "+subscribe",
          "+pubsub|numsub"}) {
        BOOST_TEST(rules.contains(rule), rule);
    }
}

BOOST_AUTO_TEST_CASE(a_name_with_a_tag_is_not_put_in_braces) {
    config settings;
    settings.key_prefix = "{app}";
    auto const rules = rules_of(rights_for(settings, "{app}x"), {"locks"});
    BOOST_TEST(rules.contains("~redisson_lock_token:{app}*"));
}

BOOST_AUTO_TEST_CASE(on_a_cluster_channels_are_in_the_slot_of_their_lock) {
    auto const sharded =
        rules_of(rights_for({}, some_name, script_dialect::sharded), {"locks", "hand-over"});
    BOOST_TEST(sharded.contains("+spublish"));
    BOOST_TEST(!sharded.contains("+publish"));
    BOOST_TEST(sharded.contains("+pubsub|shardnumsub"));
    BOOST_TEST(sharded.contains("&holdfast_client:{*"));
    auto const plain =
        rules_of(rights_for({}, some_name, script_dialect::cluster), {"locks", "hand-over"});
    BOOST_TEST(plain.contains("+publish"));
    BOOST_TEST(plain.contains("&holdfast_client:{*"));
}

// Boost.Redis waits for the reply to a subscription whose name it does not know.
BOOST_AUTO_TEST_CASE(what_is_tried_begins_with_a_command_in_capitals) {
    for (auto const& group : rights_for({}, some_name)) {
        for (auto const& one : group.rights) {
            for (auto const& tried : one.tries) {
                BOOST_TEST(std::ranges::all_of(tried.front(), [](char c) {
                    return c >= 'A' && c <= 'Z';
                }));
            }
        }
    }
}

// What servers of 6 and 7 say.
BOOST_AUTO_TEST_CASE(a_refusal_is_of_a_command_a_key_or_a_channel) {
    using kind = right::kind;
    struct refused {
        std::string text;
        kind what;
    };
    std::vector<refused> const all{
        {"NOPERM this user has no permissions to run the 'get' command or its subcommand",
         kind::command},
        {"NOPERM this user has no permissions to run the 'get' command", kind::command},
        {"NOPERM User alice has no permissions to run the 'get' command", kind::command},
        {"ERR unknown command `EVAL`, with args beginning with: ", kind::command},
        {"NOPERM this user has no permissions to access one of the keys used as arguments",
         kind::key},
        {"NOPERM No permissions to access a key", kind::key},
        {"NOPERM this user has no permissions to access one of the channels used as arguments",
         kind::channel},
        {"NOPERM No permissions to access a channel", kind::channel},
    };
    for (auto const& one : all) {
        for (auto const what : {kind::command, kind::key, kind::channel}) {
            BOOST_TEST(is_refused(what, refusal(one.text)) == (what == one.what), one.text);
        }
    }
    for (std::string const other :
         {"NOSCRIPT No matching script",
          "ERR value is not an integer or out of range",
          "WRONGTYPE Operation against a key holding the wrong kind of value",
          "OOM command not allowed when used memory > 'maxmemory'.",
          "MOVED 1 10.0.0.1:7000"}) {
        BOOST_TEST(!is_refused(kind::command, refusal(other)), other);
        BOOST_TEST(!is_refused(kind::key, refusal(other)), other);
    }
    BOOST_TEST(!is_refused(kind::command, words({"NOPERM"})));
}
