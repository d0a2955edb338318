// The permissions are those that the scripts need.

#include "protocol/permissions.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <string_view>

using holdfast::config;
using holdfast::detail::permissions;
using holdfast::detail::permissions_for;
using holdfast::detail::script_dialect;

namespace {

constexpr std::string_view client_id = "0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123";

// Empty if there is no such purpose.
permissions needed_for(
    std::string_view purpose,
    config const& settings = {},
    script_dialect dialect = script_dialect::single
) {
    for (auto const& one : permissions_for(settings, "stock", client_id, dialect)) {
        if (one.purpose == purpose) {
            return one;
        }
    }
    return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(permissions_test)

BOOST_AUTO_TEST_CASE(the_commands_are_those_of_the_scripts) {
    auto const locks = needed_for("locks").commands;
    auto const hand_over = needed_for("hand-over").commands;
    for (std::string const command : {"hset", "pexpire", "publish", "incr", "time", "evalsha"}) {
        BOOST_TEST(locks.contains(command), command);
        BOOST_TEST(!hand_over.contains(command), command);
    }
    for (std::string const command : {"zadd", "zcount", "pexpireat", "pubsub|numsub"}) {
        BOOST_TEST(!locks.contains(command), command);
        BOOST_TEST(hand_over.contains(command), command);
    }
    BOOST_TEST(needed_for("fair locks").commands.contains("rpush"));
    BOOST_TEST(needed_for("fair locks").commands.contains("zadd"));
    BOOST_TEST(!needed_for("fair locks").commands.contains("hset"));
    BOOST_TEST(needed_for("read/write locks").commands.contains("zrangebyscore"));
    BOOST_TEST(needed_for("semaphores").commands.contains("zcard"));
    BOOST_TEST(!needed_for("latches").commands.contains("incrby"));
}

BOOST_AUTO_TEST_CASE(keys_and_channels_are_those_of_the_name) {
    auto const locks = needed_for("locks");
    BOOST_TEST(std::ranges::count(locks.keys, "stock") == 1);
    BOOST_TEST(std::ranges::count(locks.keys, "redisson_lock_token:{stock}") == 1);
    BOOST_TEST(std::ranges::count(locks.channels, "redisson_lock__channel:{stock}") == 1);
    auto const own = "holdfast_client:" + std::string{client_id};
    BOOST_TEST(std::ranges::count(needed_for("hand-over").channels, own) == 1);
    BOOST_TEST(std::ranges::count(needed_for("semaphores").keys, "{stock}:timeout") == 1);
}

BOOST_AUTO_TEST_CASE(sharded_channels_have_commands_of_their_own) {
    auto const locks = needed_for("locks", {}, script_dialect::sharded).commands;
    for (std::string const command : {"spublish", "ssubscribe", "sunsubscribe"}) {
        BOOST_TEST(locks.contains(command), command);
        BOOST_TEST(!locks.contains(command.substr(1)), command);
    }
}

BOOST_AUTO_TEST_CASE(what_is_off_needs_no_permission) {
    config settings;
    BOOST_TEST(!needed_for("hand-over").commands.empty());
    BOOST_TEST(needed_for("config::replicas").commands.empty());
    settings.hand_over = false;
    settings.replicas.count = 1;
    BOOST_TEST(needed_for("hand-over", settings).commands.empty());
    BOOST_TEST(needed_for("config::replicas", settings).commands.contains("wait"));
}

BOOST_AUTO_TEST_SUITE_END()
