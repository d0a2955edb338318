// Several locks as one on a real server: all or none, whatever their kinds and clients, and nothing
// left behind by those that do not get them.

#include "support/gated_server.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::test;
using asio::cancellation_type;
using holdfast::multi_lease;
using holdfast::multi_lock;

namespace {

std::string const counter = "redisson_lock_token:";

// The client has been granted a lock: what it needs is known to be allowed.
task get_to_know(holdfast::client& client) {
    auto lease = co_await client.lock("another").acquire();
    co_await lease.release();
}

multi_lock lock_of_all(holdfast::client& client, std::vector<std::string> const& names) {
    std::vector<multi_lock::member> members;
    for (auto const& name : names) {
        members.emplace_back(client.lock(name));
    }
    return multi_lock{members};
}

// GCC 12 makes no list of names in a co_await expression.
template <class... Names>
multi_lock lock_of(holdfast::client& client, Names const&... names) {
    return lock_of_all(client, {names...});
}

/// What an operation ended with.
struct result {
    int completions = 0;
    error_code ec;
    multi_lease lease;
    asio::cancellation_signal signal;

    auto handler() {
        return asio::bind_cancellation_slot(
            signal.slot(),
            [this](error_code how, multi_lease given) {
                ++completions;
                ec = how;
                lease = std::move(given);
            }
        );
    }
    bool done() const { return completions != 0; }
    bool aborted() const {
        return completions == 1 && ec == asio::error::operation_aborted && !lease;
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(all_are_held_each_with_a_token_of_its_own_and_all_are_given_back) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        multi_lock const both{client.lock("{}", "b"), client.lock("a")};
        auto const attempts = client.stats().attempts;
        auto lease = co_await both.acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.size() == 2U);
        BOOST_TEST(client.stats().attempts == attempts + 2);
        for (auto const* const name : {"a", "b"}) {
            BOOST_TEST(probe.exists(name));
            BOOST_TEST(probe.pttl(name) > 0);
            auto const alone = co_await client.lock(name).try_acquire();
            BOOST_TEST(!alone);
        }
        // In the order in which they were named.
        auto const token_of = [&](std::string const& name) {
            return std::stoull(*probe.get(counter + "{" + name + "}"));
        };
        BOOST_TEST(lease.token(0).value == token_of("b"));
        BOOST_TEST(lease.token(1).value == token_of("a"));
        auto const tokens = lease.tokens();
        co_await lease.renew();
        co_await lease.release();
        BOOST_TEST(!lease);
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(!probe.exists("b"));

        auto again = co_await both.try_acquire();
        BOOST_TEST((again.token(0) > tokens[0]));
        BOOST_TEST((again.token(1) > tokens[1]));
        again = {};
        BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists("a"); }));
        BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists("b"); }));
    });
}

BOOST_AUTO_TEST_CASE(one_request_takes_up_to_sixty_four) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        co_await get_to_know(client);
        std::vector<std::string> names;
        for (int i = 0; i < 64; ++i) {
            names.push_back("name " + std::to_string(i));
        }
        auto const before = server.arrived("lock.acquire");
        auto lease = co_await lock_of_all(client, names).acquire();
        BOOST_TEST(lease.size() == 64U);
        BOOST_TEST(lease.valid());
        BOOST_TEST(server.arrived("lock.acquire") == before);
        BOOST_TEST(server.arrived("multi_lock.acquire") == 1U);
        BOOST_TEST(server.lock_keys().size() == 64U);
        co_await lease.release();
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(the_releases_of_all_members_reach_the_server_at_once) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        auto const all = lock_of(client, "a", "b", "c");
        auto once = co_await all.acquire();
        co_await once.release();
        auto lease = co_await all.acquire();
        auto const reads = [&] {
            return std::stoull(probe.info("stats")["total_reads_processed"]);
        };
        auto const before = reads();
        co_await lease.release();
        BOOST_TEST(reads() - before == 2U);  // the releases, and the question
    });
}

BOOST_AUTO_TEST_CASE(wrong_members_are_reported_by_the_operation) {
    with_client([](holdfast::client& client, redis_probe&) -> task {
        auto const expect = [](multi_lock on, errc cause) -> task {
            auto const [ec, lease] = co_await on.acquire(as_result);
            BOOST_TEST((ec == cause));
            BOOST_TEST(!lease);
        };
        co_await expect(lock_of(client), errc::invalid_options);
        co_await expect(lock_of(client, "a"), errc::invalid_options);
        co_await expect(lock_of(client, "a", "b", "a"), errc::invalid_options);
        co_await expect(lock_of(client, "a", ""), errc::invalid_name);
        std::vector<std::string> many(65);
        std::generate(many.begin(), many.end(), [n = 0]() mutable { return std::to_string(n++); });
        co_await expect(lock_of_all(client, many), errc::invalid_options);
        // They would exclude each other.
        multi_lock const of_two_kinds{client.lock("a"), client.fair_lock("a")};
        co_await expect(of_two_kinds, errc::invalid_options);
        // The same server.
        auto other = holdfast::client{client.get_executor(), "redis://localhost:1"};
        auto same = holdfast::client{client.get_executor(), "redis://localhost:1"};
        multi_lock const twice{other.lock("a"), same.lock("a")};
        co_await expect(twice, errc::invalid_options);
        BOOST_TEST(client.stats().attempts == 0U);
    });
}

BOOST_AUTO_TEST_CASE(one_that_is_busy_keeps_all_from_being_taken) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        auto const all = lock_of(client, "a", "b", "c");
        for (auto const* const name : {"a", "b", "c"}) {
            auto lease = co_await client.lock(name).acquire();
            auto const none = co_await all.try_acquire();
            BOOST_TEST(!none);
            auto const still_none = co_await all.try_acquire_for(60ms);
            BOOST_TEST(!still_none);
            co_await lease.release();
            for (auto const* const free : {"a", "b", "c"}) {
                BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists(free); }));
            }
        }
    });
}

BOOST_AUTO_TEST_CASE(who_waits_keeps_those_before_and_is_told_when_the_last_is_free) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        auto held = co_await client.lock("b").acquire();
        result waiting;
        lock_of(client, "c", "b", "a").acquire(waiting.handler());
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().waiters_now == 1; }));
        BOOST_TEST(probe.exists("a"));
        BOOST_TEST(!probe.exists("c"));
        auto const attempts = client.stats().attempts;
        co_await sleep_for(300ms);
        BOOST_TEST(client.stats().attempts == attempts);  // it does not poll
        co_await held.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.done(); }));
        BOOST_TEST(waiting.lease.valid());
        co_await waiting.lease.release();
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(!probe.exists("b"));
        BOOST_TEST(!probe.exists("c"));
    });
}

BOOST_AUTO_TEST_CASE(members_may_be_of_several_kinds_and_clients) {
    with_server([](redis_server& one, asio::any_io_executor executor) -> task {
        redis_server second;
        holdfast::client here{executor, one.url()};
        holdfast::client there{executor, second.url()};
        co_await get_to_know(here);
        multi_lock const all{here.lock("a"), there.lock("a"), here.fair_lock("f")};
        auto lease = co_await all.acquire({.lease = 10s});
        auto here_probe = one.probe();
        auto there_probe = second.probe();
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.size() == 3U);
        BOOST_TEST((lease.remaining() < 10s));
        BOOST_TEST(here_probe.exists("a"));
        BOOST_TEST(here_probe.exists("f"));
        BOOST_TEST(there_probe.exists("a"));
        auto none = co_await all.try_acquire();
        BOOST_TEST(!none);
        co_await lease.release();
        BOOST_TEST(!here_probe.exists("a"));
        BOOST_TEST(!here_probe.exists("f"));
        BOOST_TEST(!there_probe.exists("a"));

        // One of the clients stops while another's lock is waited for.
        auto busy = co_await there.lock("a").acquire();
        result waiting;
        all.acquire(waiting.handler());
        BOOST_TEST(co_await co_eventually(5s, [&] { return there.stats().waiters_now == 1; }));
        co_await there.shutdown();
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.done(); }));
        BOOST_TEST((waiting.ec == errc::client_stopped));
        BOOST_TEST(co_await co_eventually(5s, [&] { return !here_probe.exists("a"); }));
        BOOST_TEST(!here_probe.exists("f"));
    });
}

BOOST_AUTO_TEST_CASE(a_member_that_is_lost_is_told_and_the_release_gives_the_others_back) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        co_await get_to_know(client);
        auto lease = co_await lock_of(client, "a", "b", "c").acquire();
        loss_reason told = loss_reason::none;
        lease.wait_lost([&](error_code, loss_reason reason) { told = reason; });
        server.del("b");
        auto const [renewed] = co_await lease.renew(as_result);
        BOOST_TEST((renewed == errc::lease_lost));
        BOOST_TEST(co_await co_eventually(5s, [&] { return told == loss_reason::deleted; }));
        BOOST_TEST((lease.state() == lease_state::lost));
        BOOST_TEST((lease.loss() == loss_reason::deleted));
        BOOST_TEST(server.exists("a"));
        BOOST_TEST(server.exists("c"));
        auto const [ec] = co_await lease.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_member_that_is_lost_while_others_are_waited_for_is_taken_again) {
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            co_await get_to_know(client);
            server.lock_as_other("b", 1h);
            result waiting;
            lock_of(client, "a", "b").acquire(waiting.handler());
            auto const parked = [&] {
                return client.stats().waiters_now == 1 && server.exists("a");
            };
            BOOST_TEST(co_await co_eventually(5s, parked));
            server.del("a");
            // A renewal finds that it is gone.
            auto const taken_again = [&] { return client.stats().losses.deleted == 1 && parked(); };
            BOOST_TEST(co_await co_eventually(10s, taken_again));
            BOOST_TEST(!waiting.done());
            server.unlock_as_other("b");
            BOOST_TEST(co_await co_eventually(10s, [&] { return waiting.done(); }));
            BOOST_TEST(waiting.lease.valid());
            co_await waiting.lease.release();
            BOOST_TEST(server.lock_keys().empty());
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(with_lease_holds_them_and_cancels_the_body_when_one_is_lost) {
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            auto body = [&](multi_lease& held) -> asio::awaitable<std::size_t> {
                BOOST_TEST(server.lock_keys().size() == 2U);
                co_return held.size();
            };
            // A temporary, as users write it.
            auto const size =
                co_await holdfast::with_lease(multi_lock{client.lock("a"), client.lock("b")}, body);
            BOOST_TEST(size == 2U);
            BOOST_TEST(server.lock_keys().empty());

            bool cancelled = false;
            auto stuck = [&](multi_lease&) -> task {
                server.del("b");
                try {
                    co_await sleep_for(20s);
                } catch (boost::system::system_error const&) {
                    cancelled = true;
                    throw;
                }
            };
            multi_lock const both{client.lock("a"), client.lock("b")};
            error_code ec;
            try {
                co_await holdfast::with_lease(both, stuck);
            } catch (boost::system::system_error const& e) {
                ec = e.code();
            }
            BOOST_TEST(cancelled);
            BOOST_TEST((ec == errc::lease_lost));
            BOOST_TEST(server.lock_keys().empty());
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(an_owner_enters_again_and_joins_what_it_holds) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        auto const me = holdfast::owner::make();
        acquire_options const mine{.owner = me};
        auto alone = co_await client.lock("b").acquire(mine);
        multi_lock const both{client.lock("a"), client.lock("b")};
        auto first = co_await both.acquire(mine);
        auto second = co_await both.try_acquire(mine);
        BOOST_TEST((first.token(1) == alone.token()));
        BOOST_TEST((first.tokens() == second.tokens()));
        auto const none = co_await both.try_acquire({.owner = holdfast::owner::make()});
        BOOST_TEST(!none);
        co_await first.release();
        BOOST_TEST(second.valid());
        co_await second.release();
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(probe.exists("b"));
        BOOST_TEST(alone.valid());
        co_await alone.release();
        BOOST_TEST(!probe.exists("b"));
    });
}

BOOST_AUTO_TEST_CASE(a_cancellation_at_any_point_leaves_nothing) {
    using prepare = std::function<void(gated_server&)>;
    struct {
        char const* what;
        prepare before;
        // It has come so far.
        std::function<bool(gated_server&, holdfast::client&)> reached;
        bool waits_for_the_reply;
    } const points[] = {
        {"the request for all is not executed",
         [](gated_server& server) { server.hold_requests(true); },
         [](gated_server& server, holdfast::client&) {
             return server.arrived("multi_lock.acquire") == 1;
         },
         true},
        {"the request for all is not answered",
         [](gated_server& server) { server.hold_replies(true); },
         [](gated_server& server, holdfast::client&) {
             return server.arrived("multi_lock.acquire") == 1 && server.exists("b");
         },
         true},
        {"the first is waited for",
         [](gated_server& server) { server.lock_as_other("a", 1h); },
         [](gated_server&, holdfast::client& client) { return client.stats().waiters_now == 1; },
         false},
        {"the second is waited for",
         [](gated_server& server) { server.lock_as_other("b", 1h); },
         [](gated_server& server, holdfast::client& client) {
             return client.stats().waiters_now == 1 && server.exists("a") &&
                    client.stats().refusals >= 4;
         },
         false},
        {"there is no connection",
         [](gated_server& server) { server.set_up(false); },
         [](gated_server&, holdfast::client& client) { return client.stats().waiters_now == 1; },
         false},
    };
    for (auto const& point : points) {
        for (auto const type :
             {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
            BOOST_TEST_CONTEXT(point.what << ", type " << static_cast<int>(type)) {
                with_gates([&](gated_server& server, holdfast::client& client) -> task {
                    co_await get_to_know(client);
                    point.before(server);
                    result one;
                    auto start = [&] { lock_of(client, "a", "b").acquire(one.handler()); };
                    start();
                    auto const there = [&] { return point.reached(server, client); };
                    BOOST_TEST(co_await co_eventually(10s, there));
                    co_await sleep_for(20ms);
                    one.signal.emit(type);
                    if (type == cancellation_type::total && point.waits_for_the_reply) {
                        co_await sleep_for(20ms);
                        BOOST_TEST(!one.done());
                        server.hold_requests(false);
                        server.hold_replies(false);
                        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
                        BOOST_TEST(one.lease.valid());
                        one.lease = {};
                    } else {
                        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
                        BOOST_TEST(one.aborted());
                    }
                    server.hold_requests(false);
                    server.hold_replies(false);
                    server.set_up(true);
                    server.unlock_as_other("a");
                    server.unlock_as_other("b");
                    auto const clean = [&] {
                        auto const now = client.stats();
                        return server.lock_keys().empty() && now.leases_now == 0 &&
                               now.waiters_now == 0;
                    };
                    BOOST_TEST(co_await co_eventually(10s, clean));
                });
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_lost_reply_does_not_lose_the_locks) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        co_await get_to_know(client);
        server.hold_replies(true);
        result one;
        lock_of(client, "a", "b").acquire(one.handler());
        BOOST_TEST(co_await co_eventually(10s, [&] { return server.exists("b"); }));
        server.set_up(false);
        server.hold_replies(false);
        server.set_up(true);
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
        BOOST_TEST(one.lease.valid());
        co_await one.lease.release();
        BOOST_TEST(co_await co_eventually(10s, [&] { return server.lock_keys().empty(); }));
    });
}

BOOST_AUTO_TEST_CASE(a_key_of_another_kind_is_told_and_nothing_is_taken) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        probe.set("b", "text");
        auto const [ec, none] = co_await lock_of(client, "a", "b").acquire(as_result);
        BOOST_TEST((ec == errc::corrupt_state));
        probe.del("b");
        probe.cmd("HSET", "b", "not a holder", "1");
        auto const [again, nothing] = co_await lock_of(client, "a", "b").try_acquire(as_result);
        BOOST_TEST((again == errc::corrupt_state));
        probe.del("b");
        probe.set(counter + "{b}", "text");
        auto const [counted, still] = co_await lock_of(client, "a", "b").try_acquire(as_result);
        BOOST_TEST((counted == errc::corrupt_state));
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(!probe.exists("b"));
    });
}

BOOST_AUTO_TEST_CASE(a_queue_is_not_passed_over) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        // Somebody waits for a free lock, and is not there any more.
        std::string const entry = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1 3000";
        probe.cmd("ZADD", "holdfast_queue:{b}", 1, entry);
        auto const both = lock_of(client, "a", "b");
        auto const none = co_await both.try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(!probe.exists("a"));
        auto lease = co_await both.acquire();
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

namespace {

struct crossing {
    std::array<int, 5> inside{};
    int rounds = 0;
    int workers = 0;
};

// Two to five of them, named in any order.
task cross(holdfast::client& client, int seed, crossing& all) {
    std::minstd_rand random{static_cast<unsigned>(seed)};
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    for (int round = 0; round < 12; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        auto const count = 2 + random() % 4;
        std::vector<multi_lock::member> members;
        for (std::size_t i = 0; i < count; ++i) {
            auto const name = std::to_string(order[i]);
            if (order[i] == 4) {
                members.emplace_back(client.fair_lock(name));
            } else {
                members.emplace_back(client.lock(name));
            }
        }
        multi_lock const some{members};
        auto lease = co_await some.acquire();
        for (std::size_t i = 0; i < count; ++i) {
            BOOST_TEST(++all.inside[order[i]] == 1);
        }
        co_await sleep_for(std::chrono::microseconds{random() % 500});
        for (std::size_t i = 0; i < count; ++i) {
            --all.inside[order[i]];
        }
        co_await lease.release();
        ++all.rounds;
    }
    --all.workers;
}

}  // namespace

BOOST_AUTO_TEST_CASE(many_that_want_the_same_locks_in_any_order_never_wait_for_each_other) {
    with_server(
        [](redis_server& server, asio::any_io_executor executor) -> task {
            std::deque<holdfast::client> clients;
            for (int i = 0; i < 4; ++i) {
                clients.emplace_back(executor, server.url());
            }
            crossing all;
            all.workers = 24;
            for (int i = 0; i < 24; ++i) {
                auto& client = clients[static_cast<std::size_t>(i) % clients.size()];
                asio::co_spawn(executor, cross(client, i + 1, all), asio::detached);
            }
            BOOST_TEST(co_await co_eventually(50s, [&] { return all.workers == 0; }));
            BOOST_TEST(all.rounds == 24 * 12);
            auto probe = server.probe();
            for (int i = 0; i < 5; ++i) {
                auto const free = [&] { return !probe.exists(std::to_string(i)); };
                BOOST_TEST(co_await co_eventually(5s, free));
            }
        },
        60s
    );
}

namespace {

task contend(holdfast::client& client, bool const& stop, int& grants, int& running) {
    while (!stop) {
        auto lease = co_await client.lock("hot").acquire();
        ++grants;
        co_await sleep_for(1ms);
        co_await lease.release();
    }
    --running;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_that_others_keep_contended_is_had_within_a_few_turns) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client one{executor, server.url()};
        holdfast::client two{executor, server.url()};
        holdfast::client three{executor, server.url()};
        co_await get_to_know(three);
        bool stop = false;
        int grants = 0;
        int running = 2;
        asio::co_spawn(executor, contend(one, stop, grants, running), asio::detached);
        asio::co_spawn(executor, contend(two, stop, grants, running), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return grants > 20; }));
        multi_lock const both{three.lock("cold"), three.lock("hot")};
        for (int round = 0; round < 20; ++round) {
            auto const before = grants;
            auto lease = co_await both.acquire();
            // Two turns of each other, and what a subscription takes.
            BOOST_TEST(grants - before < 60);
            co_await lease.release();
        }
        stop = true;
        BOOST_TEST(co_await co_eventually(5s, [&] { return running == 0; }));
    });
}
