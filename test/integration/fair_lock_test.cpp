// The fair lock's queue on a real server, with waiters of another make that stand in it as
// Redisson's would. (The order of arrival, and those who died: the simulation and interop/.)

#include "support/one_server.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

std::string const queue = "redisson_lock_queue:{L}";
std::string const deadlines = "redisson_lock_timeout:{L}";
std::string const trust = "holdfast_fair:{L}";
std::string const java_thread = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1";
std::string const other_thread = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:2";

holdfast::config with_patience(redis_server const& server, std::chrono::milliseconds patience) {
    auto settings = holdfast::parse_url(server.url());
    settings.waiter_patience = patience;
    return settings;
}

task take_in_turn(holdfast::fair_lock lock, int number, std::vector<int>& served) {
    auto lease = co_await lock.acquire();
    served.push_back(number);
    co_await sleep_for(2ms);
    co_await lease.release();
}

// As Redisson's acquire script leaves one that has to wait.
void queue_from_java(
    redis_probe& probe,
    std::string const& thread,
    std::chrono::milliseconds wait
) {
    auto const now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch()
    );
    probe.cmd("ZADD", deadlines, (now + wait).count(), thread);
    probe.cmd("RPUSH", queue, thread);
}

bool queued(redis_probe& probe, std::int64_t count) {
    return probe.cmd("LLEN", queue).as_integer() == count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_next_one_is_told_when_the_first_gives_up_or_the_holder_is_forced) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        // Nobody would look by himself soon.
        auto settings = with_patience(server, 60s);
        settings.fallback_poll_interval = 1h;
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        auto probe = server.probe();
        auto lease = co_await client.fair_lock("L").acquire();
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(other.fair_lock("L"), 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        auto const info = co_await client.fair_lock("L").inspect();
        BOOST_TEST(info.held);
        BOOST_TEST(info.waiting_clients == 1U);
        BOOST_TEST(info.local_waiters == 0U);
        auto const theirs = co_await other.fair_lock("L").inspect();
        BOOST_TEST(theirs.local_waiters == 1U);
        co_await sleep_for(100ms);  // for the attempt after the subscription
        BOOST_TEST(co_await client.fair_lock("L").force_release());
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        auto const [ec] = co_await lease.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
    });
}

// Redisson before 3.32 sleeps until the deadline of the one before it as it knows it, and without
// an end once that has passed.
BOOST_AUTO_TEST_CASE(deadlines_behind_a_waiter_move_with_its_own) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 400ms)};
        auto probe = server.probe();
        auto lease = co_await client.fair_lock("L").acquire();
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(client.fair_lock("L"), 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        co_await sleep_for(100ms);  // for the attempt after the subscription
        auto const score = [&](auto const& id) {
            return std::stoll(probe.cmd("ZSCORE", deadlines, id).text);
        };
        auto const ours = probe.cmd("LINDEX", queue, 0).text;
        auto const began = score(ours);
        // What Redisson does in one script is done while ours cannot look again.
        probe.cmd(
            "EVAL",
            "local ours = redis.call('ZSCORE', KEYS[2], ARGV[1])"
            "for i = 2, 3 do redis.call('RPUSH', KEYS[1], ARGV[i])"
            " redis.call('ZADD', KEYS[2], ours + 300000 * (i - 1), ARGV[i]) end",
            2,
            queue,
            deadlines,
            ours,
            java_thread,
            other_thread
        );
        asio::co_spawn(executor, take_in_turn(client.fair_lock("L"), 2, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 4); }));
        auto const last = probe.cmd("LINDEX", queue, 3).text;
        BOOST_TEST(co_await co_eventually(10s, [&] { return score(ours) > began + 1'000; }));
        auto const all = probe.cmd(
            "EVAL",
            "local all = {} for i = 1, 4 do all[i] = redis.call('ZSCORE', KEYS[1], ARGV[i]) end"
            " return all",
            1,
            deadlines,
            ours,
            java_thread,
            other_thread,
            last
        );
        auto const deadline = [&](std::size_t i) { return std::stoll(all.as_array()[i].text); };
        BOOST_TEST(deadline(1) - deadline(0) == 300'000);
        BOOST_TEST(deadline(2) - deadline(1) == 300'000);
        BOOST_TEST(deadline(3) > deadline(2));
        probe.cmd("DEL", queue, deadlines);
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 2; }));
    });
}

// A process that is killed leaves them. Redisson's own waiters do not renew them.
BOOST_AUTO_TEST_CASE(the_queues_keys_outlive_our_waiters_by_a_minute_and_last_a_day_for_others) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const longest_life = [&] {
            auto const life = [&](auto const& key) { return probe.cmd("PTTL", key).as_integer(); };
            return std::max(life(queue), life(deadlines));
        };
        probe.cmd("HSET", "L", other_thread, 1);
        probe.cmd("PEXPIRE", "L", 600'000);
        holdfast::lease lease;
        client.fair_lock("L").acquire([&](error_code, holdfast::lease granted) {
            lease = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        co_await sleep_for(100ms);  // for the attempt after the subscription
        BOOST_TEST(longest_life() > 60'000);
        BOOST_TEST(longest_life() <= 120'000);
        auto const ours = probe.cmd("LINDEX", queue, 0).text;
        // Ours has the lock before it looks again.
        queue_from_java(probe, java_thread, 5min);
        probe.cmd("DEL", "L");
        probe.cmd("PUBLISH", "redisson_lock__channel:{L}:" + ours, "0");
        BOOST_TEST(co_await co_eventually(20s, [&] { return bool(lease); }));
        BOOST_TEST(longest_life() > 80'000'000);
        co_await lease.release();

        // Ours gives up before it looks again.
        probe.cmd("DEL", queue, deadlines, trust);
        lease = co_await client.fair_lock("L").acquire();
        asio::cancellation_signal cancel;
        client.fair_lock("L").acquire(
            asio::bind_cancellation_slot(cancel.slot(), [](error_code, holdfast::lease) {})
        );
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        co_await sleep_for(100ms);
        queue_from_java(probe, java_thread, 5min);
        cancel.emit(asio::cancellation_type::terminal);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        BOOST_TEST(longest_life() > 80'000'000);
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(with_memory_full_those_who_wait_are_served_and_one_that_comes_gets_no_place) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 400ms)};
        auto probe = server.probe();
        auto lease = co_await client.fair_lock("L").acquire();
        std::vector<int> served;
        for (int i = 0; i < 2; ++i) {
            auto lock = client.fair_lock("L");
            asio::co_spawn(executor, take_in_turn(lock, i, served), asio::detached);
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, i + 1); }));
        }
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        auto const [ec, none] = co_await client.fair_lock("L").try_acquire_for(600ms, as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!none);
        BOOST_TEST(queued(probe, 2));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 2; }));
        BOOST_TEST(served == (std::vector{0, 1}), boost::test_tools::per_element());
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
        auto next = co_await client.fair_lock("L").acquire();
        co_await next.release();
    });
}

BOOST_AUTO_TEST_CASE(something_else_under_the_key_is_never_waited_for) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        probe.cmd("HSET", "L", "mode", "read");
        auto const [ec, none] = co_await client.fair_lock("L").acquire(as_result);
        BOOST_TEST((ec == errc::corrupt_state));
        auto const [forced, freed] = co_await client.fair_lock("L").force_release(as_result);
        BOOST_TEST((forced == errc::corrupt_state));
        BOOST_TEST(!freed);
        BOOST_TEST(probe.exists("L"));
    });
}
