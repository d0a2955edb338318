// Permits on a real server: how many there are at a time, who gets them, and how they come back.
// Waiters and holders of another make stand there as Redisson's would; those of real Redisson are
// in interop/.

#include "support/one_server.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

std::string const deadlines = "{L}:timeout";
std::string const channel = "redisson_sc:{L}";
std::string const queue = "holdfast_semaphore_queue:{L}";
std::string const heard = "holdfast_semaphore_heard:{L}";
std::string const counter = "holdfast_semaphore_token:{L}";
std::string const java_permit = "0123456789abcdef";
std::string const never = "922337203685477";

std::chrono::milliseconds unix_time() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch()
    );
}

// As Redisson's acquire script leaves a permit.
void take_from_java(
    redis_probe& probe,
    std::chrono::milliseconds lease,
    std::string const& permit = java_permit
) {
    probe.cmd("DECRBY", "L", 1);
    probe.cmd("ZADD", deadlines, (unix_time() + lease).count(), permit);
}

holdfast::config with_patience(redis_server const& server, std::chrono::milliseconds patience) {
    auto settings = holdfast::parse_url(server.url());
    settings.waiter_patience = patience;
    return settings;
}

bool queued(redis_probe& probe, std::int64_t count) {
    return probe.cmd("ZCARD", queue).as_integer() == count;
}

std::int64_t free_permits(redis_probe& probe) {
    return std::stoll(probe.get("L").value());
}

std::string first_permit(redis_probe& probe) {
    auto const members = probe.cmd("ZRANGE", deadlines, 0, 0);
    return members.as_array().front().as_string();
}

bool nothing_left(redis_probe& probe, std::int64_t limit) {
    return free_permits(probe) == limit && !probe.exists(deadlines) && !probe.exists(queue) &&
           !probe.exists(heard);
}

task take_in_turn(
    holdfast::semaphore pool,
    int number,
    std::vector<int>& served,
    std::chrono::milliseconds hold = 2ms
) {
    auto lease = co_await pool.acquire();
    served.push_back(number);
    co_await sleep_for(hold);
    co_await lease.release();
}

// Takes and gives back one permit, again and again.
task keep_taking(holdfast::semaphore pool, bool const& stop, int& running) {
    ++running;
    while (!stop) {
        auto lease = co_await pool.acquire();
        co_await sleep_for(10ms);
        co_await lease.release();
    }
    --running;
}

}  // namespace

BOOST_AUTO_TEST_CASE(so_many_hold_permits_and_no_more) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("{}", "L");
        BOOST_TEST(co_await pool.try_set_permits(3));
        BOOST_TEST(!co_await pool.try_set_permits(3));
        auto const [other, now] = co_await pool.try_set_permits(4, as_result);
        BOOST_TEST((other == errc::limit_mismatch));
        BOOST_TEST(!now);
        BOOST_TEST(pool.name() == "L");

        auto first = co_await pool.acquire();
        auto const two = pool.permits(2);
        auto second = co_await two.try_acquire();
        BOOST_REQUIRE(bool(second));
        BOOST_TEST((second.token() > first.token()));
        BOOST_TEST(co_await pool.available() == 0);
        auto const [same, none_set] = co_await pool.try_set_permits(3, as_result);
        BOOST_TEST(!same);
        BOOST_TEST(!none_set);
        auto const info = co_await pool.inspect();
        BOOST_TEST(info.limit.value() == 3);
        BOOST_TEST(info.available == 0);
        BOOST_TEST(info.acquired == 3);
        BOOST_TEST(info.waiting == 0U);
        BOOST_TEST(probe.cmd("ZCARD", deadlines).as_integer() == 3);
        auto const members = probe.cmd("ZRANGE", deadlines, 0, -1);
        for (auto const& permit : members.as_array()) {
            BOOST_TEST(permit.as_string().size() == 16U);
        }
        auto none = co_await pool.try_acquire();
        BOOST_TEST(!none);
        auto late = co_await pool.try_acquire_for(50ms);
        BOOST_TEST(!late);
        co_await second.release();
        BOOST_TEST(co_await pool.available() == 2);
        auto third = co_await two.acquire();
        co_await first.release();
        co_await third.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 3); }));
        BOOST_TEST(probe.pttl("L") == -1);
        BOOST_TEST(probe.pttl(counter) > 0);
    });
}

BOOST_AUTO_TEST_CASE(a_number_that_cannot_be_had_is_an_error) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(3));
        for (std::int64_t const wrong : {0, -1, 4, 1001}) {
            auto const wanted = pool.permits(wrong);
            auto const [ec, lease] = co_await wanted.acquire(as_result);
            BOOST_TEST((ec == errc::invalid_options), wrong);
            auto const [tried, none] = co_await wanted.try_acquire(as_result);
            BOOST_TEST((tried == errc::invalid_options), wrong);
        }
        for (std::int64_t const wrong :
             {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
            auto const [ec, now] = co_await pool.try_set_permits(wrong, as_result);
            BOOST_TEST((ec == errc::invalid_options), wrong);
        }
        auto const many = client.semaphore("M");
        BOOST_TEST(co_await many.try_set_permits(1000));
        auto const thousand = many.permits(1000);
        auto everything = co_await thousand.acquire();
        BOOST_TEST(bool(everything));
        BOOST_TEST(probe.cmd("ZCARD", "{M}:timeout").as_integer() == 1000);
        co_await everything.renew();
        co_await everything.release();
        BOOST_TEST(probe.get("M").value() == "1000");
        // One that waits learns of it, too.
        auto const all = pool.permits(3);
        auto lease = co_await all.acquire();
        error_code end;
        all.acquire([&end](error_code ec, holdfast::lease) { end = ec; });
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        probe.cmd("INCRBY", "L", -1);
        BOOST_TEST(co_await co_eventually(5s, [&] { return end == errc::invalid_options; }));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 2); }));
    });
}

BOOST_AUTO_TEST_CASE(acquisitions_wait_until_somebody_says_how_many_there_are) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        // Nobody would look by himself soon.
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.available() == 0);
        auto const before = co_await pool.inspect();
        BOOST_TEST(!before.limit.has_value());
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(pool, 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        auto const waits = co_await pool.inspect();
        BOOST_TEST(waits.waiting == 1U);
        BOOST_TEST(waits.local_waiters == 1U);
        co_await sleep_for(100ms);  // for the attempt after the subscription
        BOOST_TEST(co_await pool.try_set_permits(1));
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 1); }));
    });
}

BOOST_AUTO_TEST_CASE(those_who_wait_are_served_in_the_order_of_their_arrival) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        constexpr int waiters = 6;
        std::deque<holdfast::client> clients;
        for (int i = 0; i < waiters; ++i) {
            clients.emplace_back(executor, with_patience(server, 60s));
        }
        auto probe = server.probe();
        auto const pool = clients.front().semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        auto lease = co_await pool.acquire();
        std::vector<int> served;
        for (int i = 0; i < waiters; ++i) {
            auto& client = clients[static_cast<std::size_t>(i)];
            asio::co_spawn(
                executor,
                take_in_turn(client.semaphore("L"), i, served),
                asio::detached
            );
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, i + 1); }));
        }
        co_await sleep_for(200ms);  // for the attempts after the subscriptions
        auto const attempts = [&] {
            std::uint64_t all = 0;
            for (auto const& client : clients) {
                all += client.stats().attempts;
            }
            return all;
        };
        auto const before = attempts();
        auto none = co_await pool.try_acquire();
        BOOST_TEST(!none);
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(10s, [&] { return served.size() == waiters; }));
        std::vector<int> order(waiters);
        std::iota(order.begin(), order.end(), 0);
        BOOST_TEST(served == order, boost::test_tools::per_element());
        // Only the one whose turn it is asks.
        BOOST_TEST(attempts() - before <= waiters + 1U);
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 1); }));
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_for_many_is_not_passed_by_waiters_for_one) {
    with_server(
        [](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, server.url()};
            holdfast::client others{executor, server.url()};
            auto probe = server.probe();
            auto const pool = client.semaphore("L");
            BOOST_TEST(co_await pool.try_set_permits(10));
            bool stop = false;
            int running = 0;
            for (int i = 0; i < 15; ++i) {
                asio::co_spawn(executor, keep_taking(pool, stop, running), asio::detached);
                auto const theirs = others.semaphore("L");
                asio::co_spawn(executor, keep_taking(theirs, stop, running), asio::detached);
            }
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 2); }));
            auto const five = pool.permits(5);
            std::vector<std::chrono::nanoseconds> waits;
            for (int i = 0; i < 100; ++i) {
                auto const began = lease_clock::now();
                auto lease = co_await five.acquire();
                waits.push_back(lease_clock::now() - began);
                co_await lease.release();
            }
            stop = true;
            std::sort(waits.begin(), waits.end());
            // Ten times the mean hold. The slowest may have met a pause of the machine.
            BOOST_TEST((waits[97] <= 100ms), waits[97].count());
            BOOST_TEST((waits.back() <= 1s), waits.back().count());
            BOOST_TEST(co_await co_eventually(5s, [&] { return running == 0; }));
            BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 10); }));
        },
        60s
    );
}

BOOST_AUTO_TEST_CASE(what_a_large_grant_leaves_goes_to_the_next_ones_at_once) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        for (int i = 0; i < 4; ++i) {
            clients.emplace_back(executor, with_patience(server, 60s));
        }
        auto probe = server.probe();
        auto const pool = clients.front().semaphore("L");
        auto const three = pool.permits(3);
        BOOST_TEST(co_await pool.try_set_permits(3));
        auto lease = co_await three.acquire();
        std::vector<int> served;
        for (int i = 1; i < 4; ++i) {
            auto& client = clients[static_cast<std::size_t>(i)];
            auto const theirs = client.semaphore("L");
            asio::co_spawn(executor, take_in_turn(theirs, i, served, 1s), asio::detached);
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, i); }));
        }
        co_await sleep_for(200ms);  // for the attempts after the subscriptions
        // One message for the three.
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 3; }));
        BOOST_TEST(free_permits(probe) == 0);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nothing_left(probe, 3); }));
    });
}

BOOST_AUTO_TEST_CASE(the_waiters_of_one_client_share_a_place_and_are_granted_together) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(3));
        auto const three = pool.permits(3);
        auto lease = co_await three.acquire();
        std::vector<int> served;
        for (int i = 0; i < 3; ++i) {
            asio::co_spawn(executor, take_in_turn(pool, i, served, 1s), asio::detached);
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        co_await sleep_for(200ms);  // for the attempt after the subscription
        BOOST_TEST(queued(probe, 1));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 3; }));
        BOOST_TEST(free_permits(probe) == 0);
        auto const stats = client.stats();
        BOOST_TEST(stats.grants == 4U);
        BOOST_TEST(stats.hand_overs == 3U);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nothing_left(probe, 3); }));
    });
}

BOOST_AUTO_TEST_CASE(permits_of_a_holder_that_died_come_back) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe(channel);
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(2));
        BOOST_TEST(listener.next_message(1s).value().payload == "2");
        take_from_java(probe, 400ms);
        take_from_java(probe, 10min, "fedcba9876543210");
        auto none = co_await pool.try_acquire();
        BOOST_TEST(!none);
        auto lease = co_await pool.try_acquire_for(5s);
        BOOST_TEST(bool(lease));
        BOOST_TEST(probe.cmd("ZSCORE", deadlines, java_permit).is_nil());
        BOOST_TEST(listener.next_message(1s).value().payload == "1");
        BOOST_TEST(co_await pool.available() == 0);
        auto const info = co_await pool.inspect();
        BOOST_TEST(info.limit.value() == 2);
        co_await lease.release();
        BOOST_TEST(listener.next_message(1s).value().payload == "1");
    });
}

BOOST_AUTO_TEST_CASE(a_permit_without_an_end_is_its_holders) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 200ms)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        probe.cmd("DECRBY", "L", 1);
        probe.cmd("ZADD", deadlines, never, java_permit);
        auto none = co_await pool.try_acquire_for(500ms, {.orphan_after = 100ms});
        BOOST_TEST(!none);
        BOOST_TEST(probe.cmd("ZSCORE", deadlines, java_permit).as_string() == never);
    });
}

BOOST_AUTO_TEST_CASE(permits_are_renewed_and_one_that_is_missing_loses_the_hold) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(5));
        auto const two = pool.permits(2);
        auto lease = co_await two.acquire({.lease = 1500ms, .renew_at = 0.1});
        auto kept = co_await pool.acquire({.lease = 1500ms, .renew_at = 0.1});
        co_await sleep_for(2500ms);
        BOOST_TEST(lease.valid());
        BOOST_TEST(client.stats().renewals > 4U);
        auto const permit = first_permit(probe);
        // As Redisson's reclaim does it with one that is over.
        probe.cmd("ZREM", deadlines, permit);
        probe.cmd("INCRBY", "L", 1);
        bool const of_two = co_await co_eventually(3s, [&] { return !lease.valid(); });
        auto& lost = of_two ? lease : kept;
        auto& other = of_two ? kept : lease;
        BOOST_TEST((lost.loss() == loss_reason::deleted));
        BOOST_TEST(other.valid());
        // What was left of the hold was given back.
        BOOST_TEST(free_permits(probe) == (of_two ? 4 : 3));
        auto const [ec] = co_await lost.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
        co_await other.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 5); }));
    });
}

BOOST_AUTO_TEST_CASE(a_renewal_never_shortens_a_permit) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        auto lease = co_await pool.acquire({.lease = 2s});
        auto const permit = first_permit(probe);
        auto const far = std::to_string((unix_time() + 1h).count());
        probe.cmd("ZADD", deadlines, far, permit);
        co_await lease.renew();
        BOOST_TEST(probe.cmd("ZSCORE", deadlines, permit).as_string() == far);
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(messages_of_java_programs_wake_whoever_waits) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        // Nobody would look by himself soon.
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        // addPermits() publishes what it makes of the number, which may be 0 or less.
        for (auto const* const payload : {"1", "2", "0", "-4"}) {
            take_from_java(probe, 10min);
            std::vector<int> served;
            asio::co_spawn(executor, take_in_turn(pool, 1, served), asio::detached);
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
            co_await sleep_for(100ms);  // for the attempt after the subscription
            probe.cmd("ZREM", deadlines, java_permit);
            probe.cmd("INCRBY", "L", 1);
            probe.publish(channel, payload);
            BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }), payload);
            BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 1); }));
        }
    });
}

BOOST_AUTO_TEST_CASE(one_that_gives_up_leaves_the_queue_and_lets_the_next_one_go) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 60s)};
        holdfast::client other{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(2));
        auto lease = co_await pool.acquire();
        asio::cancellation_signal cancel;
        error_code end;
        pool.permits(2).acquire(asio::bind_cancellation_slot(
            cancel.slot(),
            [&end](error_code ec, holdfast::lease) { end = ec; }
        ));
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(other.semaphore("L"), 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 2); }));
        co_await sleep_for(200ms);  // for the attempts after the subscriptions
        BOOST_TEST(served.empty());
        cancel.emit(asio::cancellation_type::terminal);
        BOOST_TEST(co_await co_eventually(2s, [&] { return served.size() == 1; }));
        BOOST_TEST((end == asio::error::operation_aborted));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 2); }));
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_that_died_holds_the_next_up_for_no_longer_than_its_patience) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 1s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        std::string const dead = "1 0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123:1";
        probe.cmd("ZADD", queue, 1, dead);
        probe.cmd("ZADD", heard, (unix_time() + 1s).count(), dead);
        auto none = co_await pool.try_acquire();
        BOOST_TEST(!none);
        auto const began = lease_clock::now();
        auto lease = co_await pool.try_acquire_for(5s);
        BOOST_TEST(bool(lease));
        BOOST_TEST((lease_clock::now() - began >= 800ms));
        BOOST_TEST((lease_clock::now() - began < 3s));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 1); }));
    });
}

BOOST_AUTO_TEST_CASE(an_owner_shares_its_permits_and_a_body_gets_a_lease) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(2));
        auto const me = holdfast::owner::make();
        acquire_options const mine{.owner = me};
        auto first = co_await pool.acquire(mine);
        auto second = co_await pool.acquire(mine);
        BOOST_TEST((first.token() == second.token()));
        BOOST_TEST(co_await pool.available() == 1);
        auto body = [&](holdfast::lease& lease) -> task {
            BOOST_TEST(lease.valid());
            BOOST_TEST(free_permits(probe) == 0);
            co_return;
        };
        co_await holdfast::with_lease(pool, body);
        co_await first.release();
        BOOST_TEST(co_await pool.available() == 1);
        co_await second.release();
        BOOST_TEST(co_await pool.available() == 2);
        auto const two = pool.permits(2);
        co_await holdfast::with_lease(two, body);
        BOOST_TEST(nothing_left(probe, 2));
    });
}

BOOST_AUTO_TEST_CASE(forced_release_takes_all_permits_and_wakes_whoever_waits) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(2));
        BOOST_TEST(!co_await pool.force_release());
        auto lease = co_await pool.acquire({.lease = 1s});
        take_from_java(probe, 10min);
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(pool, 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        co_await sleep_for(100ms);  // for the attempt after the subscription
        BOOST_TEST(co_await pool.force_release());
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        auto const [ended, why] = co_await lease.wait_lost(as_result);
        BOOST_TEST(!ended);
        BOOST_TEST((why == loss_reason::deleted));
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 2); }));
    });
}

BOOST_AUTO_TEST_CASE(something_else_under_a_key_is_never_waited_for) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        auto const check = [&]() -> task {
            auto const [ec, none] = co_await pool.acquire(as_result);
            BOOST_TEST((ec == errc::corrupt_state));
            auto const [forced, freed] = co_await pool.force_release(as_result);
            BOOST_TEST((forced == errc::corrupt_state));
            auto const [asked, info] = co_await pool.inspect(as_result);
            BOOST_TEST((asked == errc::corrupt_state));
            auto const [counted, free] = co_await pool.available(as_result);
            BOOST_TEST((counted == errc::corrupt_state));
            auto const [set, now] = co_await pool.try_set_permits(3, as_result);
            BOOST_TEST((set == errc::corrupt_state));
        };
        probe.cmd("SET", "L", "three");
        co_await check();
        probe.cmd("DEL", "L");
        probe.cmd("HSET", "L", "mode", "read");
        co_await check();
        BOOST_TEST(probe.hgetall("L").size() == 1U);
        probe.cmd("DEL", "L");
        probe.cmd("SET", "L", "3");
        probe.cmd("SET", deadlines, "mine");
        co_await check();
        BOOST_TEST(probe.get(deadlines).value() == "mine");
        BOOST_TEST(probe.get("L").value() == "3");
        probe.cmd("DEL", deadlines);
        probe.cmd("ZADD", deadlines, 1, "somebody's own");
        auto const [forced, freed] = co_await pool.force_release(as_result);
        BOOST_TEST((forced == errc::corrupt_state));
        BOOST_TEST(probe.exists(deadlines));
    });
}

BOOST_AUTO_TEST_CASE(with_memory_full_permits_come_back_and_those_who_wait_are_served) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 400ms)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        auto const two = pool.permits(2);
        BOOST_TEST(co_await pool.try_set_permits(2));
        auto lease = co_await two.acquire({.lease = 1s});
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(pool, 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        auto const [ec, none] = co_await two.try_acquire_for(600ms, as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!none);
        BOOST_TEST(queued(probe, 1));
        co_await sleep_for(1s);
        BOOST_TEST(lease.valid());
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 2); }));
        auto const [refused, nothing] = co_await pool.try_acquire(as_result);
        BOOST_TEST((refused == errc::server_refused));
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
        auto next = co_await pool.acquire();
        co_await next.release();
    });
}

BOOST_AUTO_TEST_CASE(a_lease_can_be_learned) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.lease = 30s;
        settings.learned_lease_min = 1s;
        settings.request_timeout = 100ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        for (int i = 0; i < 3; ++i) {
            auto lease = co_await pool.acquire({.lease = holdfast::learned});
            co_await lease.release();
        }
        BOOST_TEST(probe.exists("holdfast_semaphore_hold:{L}"));
        auto lease = co_await pool.acquire({.lease = holdfast::learned});
        BOOST_TEST((lease.remaining() <= 1s));
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(a_semaphore_with_an_end_ends_altogether) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        // As Redisson's trySetPermits with a time to live.
        probe.cmd("SET", "L", 2, "PX", 60'000);
        auto lease = co_await pool.acquire();
        BOOST_TEST(probe.pttl(deadlines) > 50'000);
        probe.del("L");
        co_await lease.release();
        // Its permits are not counted where nobody says how many there are.
        BOOST_TEST(!probe.exists("L"));
        BOOST_TEST(!probe.exists(deadlines));
    });
}

// What the README names.
BOOST_AUTO_TEST_CASE(a_user_needs_some_rights) {
    std::string const keys =
        "resetchannels ~app:* ~{app:* ~holdfast_semaphore_token:{app:* "
        "~holdfast_semaphore_queue:{app:* ~holdfast_semaphore_heard:{app:* "
        "~holdfast_semaphore_hold:{app:* ~redisson_sc:{app:* ~holdfast_semaphore_turns:{app:* "
        "&redisson_sc:{app:* &holdfast_semaphore_turns:{app:* ";
    std::string const commands =
        "+ping +time +evalsha +eval +subscribe +unsubscribe +pttl +set +get +incr +incrby +pexpire "
        "+exists +del +publish +zadd +zrem +zrange +zscore +zcount +decrby +zcard +zrangebyscore";
    with_alice(keys + commands, [](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.key_prefix = "app:";
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(2));
        auto lease = co_await pool.permits(2).acquire({.lease = holdfast::learned});
        BOOST_TEST(bool(lease));
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(other.semaphore("L"), 1, served), asio::detached);
        co_await sleep_for(200ms);
        co_await lease.renew();
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        auto next = co_await pool.acquire();
        BOOST_TEST(co_await pool.force_release());
        auto const info = co_await pool.inspect();
        BOOST_TEST(info.available == 2);
    });
    with_alice("~* &* +@all -decrby", [](redis_server& server, asio::any_io_executor on) -> task {
        holdfast::client client{on, as_alice(server)};
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        auto const [ec, none] = co_await pool.acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(co_await pool.available() == 1);
    });
}
