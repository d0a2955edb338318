// This version and 0.1 on one server: what was set up for 0.1 goes on working.

#include "support/first_version_peer.hpp"
#include "support/history/turns.hpp"
#include "support/one_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

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

/// Clients that take one lock in turns, on one thread.
class contest {
public:
    /// `eager`: it asks again at once after each release.
    void add(holdfast::lock const& on, bool eager = false) {
        turns_.push_back({[this, on] { return our_turn(on); }, eager});
    }
    void add(first_version_peer& by) {
        turns_.push_back({[this, &by] { return their_turn(by); }, false});
    }

    /// For that long, and for some seconds more until each had so many grants.
    task run(asio::any_io_executor executor, std::chrono::milliseconds duration, int grants) {
        end_ = std::chrono::steady_clock::now() + duration;
        enough_ = grants;
        running_ = turns_.size();
        for (auto& each : turns_) {
            asio::co_spawn(executor, repeat(each), asio::detached);
        }
        // Who waits when the time is over gets it from the others.
        BOOST_TEST(co_await co_eventually(duration + 25s, [&] { return running_ == 0; }));
        for (auto const& broken : holdfast::history::broken_by(had_, {.lease = 30s})) {
            BOOST_ERROR(broken);
        }
        BOOST_TEST(losses_ == 0);
        BOOST_TEST(fewest_grants() >= grants);
    }

private:
    struct turns {
        std::function<task()> take;
        bool eager;
        int grants = 0;
    };

    task our_turn(holdfast::lock on) {
        auto lease = co_await on.acquire();
        co_await hold(lease.token().value);
        losses_ += lease.valid() ? 0 : 1;
        co_await lease.release();
    }
    task their_turn(first_version_peer& by) {
        auto const token = co_await by.acquire();
        co_await hold(token);
        by.release();
    }
    task hold(std::uint64_t token) {
        holdfast::history::noted_turn const held{had_, 0, static_cast<std::int64_t>(token)};
        co_await sleep_for(draw(500, 1'500));
    }
    task repeat(turns& who) {
        while (goes_on()) {
            auto turn = who.take();
            co_await std::move(turn);
            ++who.grants;
            // Long enough that the lock is free now and then: where wake-ups race, the slowest one
            // would never win.
            if (!who.eager) {
                co_await sleep_for(draw(0, 16'000));
            }
        }
        --running_;
    }
    bool goes_on() const {
        auto const now = std::chrono::steady_clock::now();
        return now < end_ || (now < end_ + 10s && fewest_grants() < enough_);
    }
    int fewest_grants() const {
        auto const by_grants = [](turns const& a, turns const& b) { return a.grants < b.grants; };
        return std::min_element(turns_.begin(), turns_.end(), by_grants)->grants;
    }
    std::chrono::microseconds draw(int from_us, int to_us) {
        return std::chrono::microseconds{std::uniform_int_distribution{from_us, to_us}(random_)};
    }

    std::deque<turns> turns_;
    std::mt19937 random_{1};
    std::chrono::steady_clock::time_point end_;
    std::vector<holdfast::history::turn> had_;
    std::size_t running_ = 0;
    int enough_ = 0;
    int losses_ = 0;
};

}  // namespace

// They are cached by the server under the same names.
BOOST_AUTO_TEST_CASE(the_peer_has_the_scripts_of_0_1) {
    with_server([](redis_server& server, asio::any_io_executor) -> task {
        auto probe = server.probe();
        auto const name_of = [&](std::string const& script) {
            return probe.cmd("SCRIPT", "LOAD", script).as_string();
        };
        BOOST_TEST(name_of(first_version_acquire) == "f4fbc618567a63643a74ac62dc9ae6d2b20654ca");
        BOOST_TEST(name_of(first_version_release) == "bffa2ae3fdd89eba8f4f0bc88df15cc0977062c8");
        co_return;
    });
}

BOOST_AUTO_TEST_CASE(a_crowd_in_one_of_our_clients_leaves_turns_for_0_1) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        contest all;
        holdfast::client client{executor, server.url()};
        for (int i = 0; i < 20; ++i) {
            all.add(client.lock("stock"), true);
        }
        std::deque<first_version_peer> theirs;
        for (int i = 0; i < 3; ++i) {
            all.add(theirs.emplace_back(server.unix_socket(), "stock"));
        }
        co_await all.run(executor, 2s, 5);
    });
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
        std::deque<first_version_peer> theirs;
        for (int i = 0; i < 3; ++i) {
            auto const lock = ours.emplace_back(executor, settings).lock("stock");
            all.add(lock);
            all.add(lock);
        }
        for (int i = 0; i < 2; ++i) {
            redis_credentials const alice{"alice", "secret"};
            all.add(theirs.emplace_back(server.unix_socket(), "app:stock", alice));
        }
        // Whoever asks first has it: how often each does is chance, on a loaded machine above all.
        co_await all.run(executor, 2s, 1);
    });
    BOOST_TEST(log.count(log_level::error) == 0U, log.all());
}
