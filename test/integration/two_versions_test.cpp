// This version and 0.1 on one server: what was set up for 0.1 goes on working.

#include "support/foreign/client.hpp"
#include "support/foreign/contest.hpp"
#include "support/foreign/scripts.hpp"
#include "support/one_server.hpp"

#include <deque>
#include <string>

using namespace holdfast::test;

namespace {

// Those of the user in the README of 0.1.
std::string const rights_of_0_1 =
    "resetchannels ~app:* ~redisson_lock_token:{app:* ~redisson_lock__channel:{app:* "
    "&redisson_lock__channel:{app:* +ping +time +evalsha +eval +subscribe +unsubscribe +pttl "
    "+hkeys +hgetall +hexists +hset +hdel +set +get +incr +pexpire +exists +del +publish";

holdfast::config app(redis_server const& server) {
    auto settings = as_alice(server);
    settings.key_prefix = "app:";
    return settings;
}

foreign_options app_of_0_1(redis_server const& server) {
    return {
        .server = {server.unix_socket(), "alice", "secret"},
        .speaks = dialect::first_version,
    };
}

}  // namespace

// The peer's texts are 0.1's: they are cached by the server under the same names.
BOOST_AUTO_TEST_CASE(the_peer_has_the_scripts_of_0_1) {
    BOOST_TEST(
        foreign_scripts::first_version_acquire().sha1 == "f4fbc618567a63643a74ac62dc9ae6d2b20654ca"
    );
    BOOST_TEST(
        foreign_scripts::first_version_release().sha1 == "bffa2ae3fdd89eba8f4f0bc88df15cc0977062c8"
    );
    BOOST_TEST(
        foreign_scripts::first_version_renew().sha1 == "b3983293448a7ec33a292db94fa62f734a5768ec"
    );
}

BOOST_AUTO_TEST_CASE(the_rights_of_0_1_suffice_for_one_client) {
    log_lines log;
    with_alice(rights_of_0_1, [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = app(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto const lock = client.lock("stock");
        auto lease = co_await lock.acquire({.lease = 1s});
        co_await lease.renew();
        co_await sleep_for(1500ms);
        BOOST_TEST(lease.valid());
        auto const seen = co_await lock.inspect();
        BOOST_TEST(seen.held);
        BOOST_TEST(seen.last_token.value >= lease.token().value);
        auto busy = co_await lock.try_acquire();
        BOOST_TEST(!busy);
        co_await lease.release();
        lease = co_await lock.acquire();
        BOOST_TEST(co_await lock.force_release());
        auto [released] = co_await lease.release(as_result);
        BOOST_TEST((released == errc::lease_lost));
        co_await client.shutdown();
    });
    BOOST_TEST(log.count(log_level::error) == 0U, log.all());
}

// Without the rights to anything newer, several clients still wait for each other, and for 0.1.
BOOST_AUTO_TEST_CASE(the_rights_of_0_1_suffice_for_many) {
    log_lines log;
    with_alice(rights_of_0_1, [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = app(server);
        settings.log = log.sink();
        contest all;
        std::deque<holdfast::client> ours;
        std::deque<foreign_client> theirs;
        for (int i = 0; i < 3; ++i) {
            auto const lock = ours.emplace_back(executor, settings).lock("stock");
            all.add(lock);
            all.add(lock);
        }
        for (int i = 0; i < 2; ++i) {
            all.add(theirs.emplace_back(executor, app_of_0_1(server)), "app:stock");
        }
        co_await all.run(2s, 10);
        BOOST_TEST(all.overlaps() == 0);
        BOOST_TEST(all.tokens_that_did_not_grow() == 0);
        BOOST_TEST(all.losses() == 0);
        // Whoever asks first has it: how often each does is chance, on a loaded machine above all.
        BOOST_TEST(all.fewest_grants() >= 1, all.describe());
    });
    BOOST_TEST(log.count(log_level::error) == 0U, log.all());
}
