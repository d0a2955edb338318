// One lock on several servers: whoever has a majority of them has it. A minority may be slow, dead
// or restarted without its data.

#include "support/gated_server.hpp"
#include "support/node_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace holdfast::test;
using holdfast::quorum_lease;
using holdfast::quorum_lock;

namespace {

/// What an operation ended with.
struct ended {
    int completions = 0;
    error_code ec;
    quorum_lease lease;
    lease_clock::time_point at{};
    asio::cancellation_signal signal;

    auto handler() {
        return asio::bind_cancellation_slot(
            signal.slot(),
            [this](error_code how, quorum_lease given) {
                ++completions;
                ec = how;
                lease = std::move(given);
                at = lease_clock::now();
            }
        );
    }
    bool done() const { return completions != 0; }
};

/// A lock that was had once: connections are up, scripts are known, and so is the servers' time.
task get_to_know(node_clients& clients) {
    co_await clients.ready();
    auto lease = co_await clients.lock("another").acquire();
    co_await lease.release();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_majority_is_enough_and_the_others_join) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        auto const lock = clients.lock();
        auto lease = co_await lock.acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST(static_cast<bool>(lease));
        BOOST_TEST((lease.state() == lease_state::held));
        BOOST_TEST((lease.nodes() >= 3U));
        BOOST_TEST((lease.remaining() > 5s));
        BOOST_TEST((lease.remaining() < 10s));
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 5U; }));
        BOOST_TEST(nodes.holding() == 5U);
        auto const before = lease.deadline();
        co_await sleep_for(20ms);
        co_await lease.renew();
        BOOST_TEST((lease.deadline() > before));
        auto const token = lease.token();
        co_await lease.release();
        BOOST_TEST(!lease);
        BOOST_TEST(lease.nodes() == 0U);
        BOOST_TEST((lease.token() == token));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));

        auto next = co_await lock.try_acquire();
        BOOST_TEST((next.token() > token));
        next = {};
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(another_process_is_refused_until_it_is_released_and_then_told) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto here = nodes.clients(executor);
        auto there = nodes.clients(executor);
        co_await get_to_know(here);
        co_await get_to_know(there);
        auto lease = co_await here.lock().acquire();
        auto none = co_await there.lock().try_acquire();
        BOOST_TEST(!none);
        auto const [ec, still_none] = co_await there.lock().try_acquire_for(60ms, as_result);
        BOOST_TEST(!ec);
        BOOST_TEST(!still_none);

        ended waiting;
        there.lock().acquire(waiting.handler());
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return nodes[0].probe().pubsub_numsub("redisson_lock__channel:{a}") == 1;
        }));
        co_await sleep_for(300ms);
        auto const attempts = there.attempts();
        co_await sleep_for(500ms);
        BOOST_TEST(there.attempts() == attempts);  // it does not poll
        BOOST_TEST(!waiting.done());
        auto const released = lease_clock::now();
        auto const token = lease.token();
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.done(); }));
        BOOST_TEST(waiting.lease.valid());
        BOOST_TEST((waiting.at - released < 1s));
        BOOST_TEST((waiting.lease.token() > token));
        co_await waiting.lease.release();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            BOOST_TEST(co_await co_eventually(5s, [&] {
                return nodes[i].probe().pubsub_channels("redisson_lock__channel*").empty();
            }));
        }
    });
}

BOOST_AUTO_TEST_CASE(slow_and_dead_nodes_cost_no_time) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        auto others = nodes.clients(executor);
        co_await get_to_know(clients);
        co_await get_to_know(others);
        nodes[0].pause();
        nodes[3].kill();
        for (int i = 0; i < 5; ++i) {
            auto const start = lease_clock::now();
            auto lease = co_await clients.lock().acquire();
            BOOST_TEST((lease_clock::now() - start < 500ms));
            BOOST_TEST(lease.nodes() == 3U);
            auto const none = co_await others.lock().try_acquire();
            BOOST_TEST(!none);
            co_await lease.release();
            BOOST_TEST((lease_clock::now() - start < 500ms));
        }
        // What the one that was stopped has granted late, it gets back.
        nodes[0].resume();
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return nodes.holding("a", {0, 1, 2, 4}) == 0U;
        }));
        nodes[3].restart(false);
        co_await clients.shutdown();
        co_await others.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(without_a_majority_nobody_gets_it_and_is_told_in_time) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto settings = node_group::settings();
        settings.request_timeout = 500ms;
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        nodes[0].kill();
        nodes[1].kill();
        nodes[2].pause();
        auto start = lease_clock::now();
        auto const [ec, none] = co_await clients.lock().try_acquire(as_result);
        BOOST_TEST((ec == errc::quorum_not_reached));
        BOOST_TEST(!none);
        BOOST_TEST((lease_clock::now() - start < 2s));
        BOOST_TEST(holdfast::is_retryable(ec));
        start = lease_clock::now();
        auto const [again, nothing] = co_await clients.lock().try_acquire_for(800ms, as_result);
        BOOST_TEST((again == errc::quorum_not_reached));
        BOOST_TEST(!nothing);
        BOOST_TEST((lease_clock::now() - start < 2s));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding("a", {3, 4}) == 0U; }));

        ended waiting;
        clients.lock().acquire(waiting.handler());
        co_await sleep_for(1s);
        BOOST_TEST(!waiting.done());
        nodes[2].resume();
        BOOST_TEST(co_await co_eventually(10s, [&] { return waiting.done(); }));
        BOOST_TEST(waiting.lease.valid());
        co_await waiting.lease.release();
    });
}

BOOST_AUTO_TEST_CASE(what_was_granted_without_a_majority_is_given_back_everywhere) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        // Other holders of the nodes' own locks.
        std::vector<holdfast::lease> held;
        for (std::size_t i = 0; i < 3; ++i) {
            held.push_back(co_await clients[i].lock("a").acquire());
        }
        auto const none = co_await clients.lock().try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding("a", {3, 4}) == 0U; }));
        BOOST_TEST(nodes.holding() == 3U);
        co_await held.back().release();
        auto lease = co_await clients.lock().try_acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.nodes() == 3U);
        auto const busy = co_await clients[4].lock("a").try_acquire();
        BOOST_TEST(!busy);
        co_await lease.release();
        held.clear();
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(wrong_nodes_are_reported_by_the_operation) {
    node_group nodes{3, {.tcp = true}};
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        auto const expect = [](quorum_lock on, errc cause) -> task {
            auto const [ec, lease] = co_await on.acquire(as_result);
            BOOST_TEST((ec == cause));
            BOOST_TEST(!lease);
        };
        auto const a = clients[0].lock("a");
        auto const b = clients[1].lock("a");
        auto const c = clients[2].lock("a");
        quorum_lock const two{a, b};
        quorum_lock const twice{a, b, a};
        quorum_lock const of_two_names{a, b, clients[2].lock("b")};
        std::vector<holdfast::lock> const none;
        std::vector<holdfast::lock> const ten(10, a);
        std::vector<holdfast::lock> const nameless{
            clients[0].lock(""),
            clients[1].lock(""),
            clients[2].lock("")
        };
        co_await expect(two, errc::invalid_options);
        co_await expect(twice, errc::invalid_options);
        co_await expect(of_two_names, errc::invalid_options);
        co_await expect(quorum_lock{none}, errc::invalid_options);
        co_await expect(quorum_lock{ten}, errc::invalid_options);
        co_await expect(quorum_lock{nameless}, errc::invalid_name);
        quorum_lock const all{a, b, c};
        for (auto const& wrong :
             {acquire_options{.lease = holdfast::learned}, acquire_options{.orphan_after = 1s}}) {
            auto const [ec, lease] = co_await all.acquire(wrong, as_result);
            BOOST_TEST((ec == errc::invalid_options));
        }
        auto const [too_short, nothing] = co_await all.acquire({.lease = 1ms}, as_result);
        BOOST_TEST((too_short == errc::invalid_lease));
        BOOST_TEST(clients.attempts() == 0U);

        // One server by two addresses.
        co_await clients.ready();
        auto by_port = node_group::settings();
        by_port.port = nodes[0].tcp_port();
        holdfast::client other{executor, by_port};
        co_await other.ready();
        quorum_lock const hidden{a, b, other.lock("a")};
        co_await expect(hidden, errc::invalid_options);
    });
}

BOOST_AUTO_TEST_CASE(an_even_number_needs_more_than_half) {
    with_nodes(4, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        nodes[3].kill();
        auto lease = co_await clients.lock().acquire();
        BOOST_TEST(lease.nodes() == 3U);
        co_await lease.release();
        nodes[2].kill();
        auto const [ec, none] = co_await clients.lock().try_acquire_for(500ms, as_result);
        BOOST_TEST((ec == errc::quorum_not_reached));
    });
}

BOOST_AUTO_TEST_CASE(the_token_is_known_to_a_majority_before_it_is_given_out) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        auto const lock = clients.lock();
        // One counter runs ahead of all clocks, one is far behind.
        nodes[1].probe().set("redisson_lock_token:{a}", "5000000000000000");
        nodes[2].probe().set("redisson_lock_token:{a}", "1");
        std::uint64_t last = 0;
        for (int i = 0; i < 20; ++i) {
            if (i % 4 == 1) {
                nodes[static_cast<std::size_t>(i) % 5].pause();
            }
            auto lease = co_await lock.acquire();
            for (std::size_t n = 0; n < nodes.size(); ++n) {
                nodes[n].resume();
            }
            BOOST_TEST(lease.token().value > last);
            last = lease.token().value;
            std::size_t know = 0;
            for (std::size_t n = 0; n < nodes.size(); ++n) {
                know += nodes.counter(n) >= last ? 1U : 0U;
            }
            BOOST_TEST(know >= 3U);
            co_await lease.release();
        }
        // What a client proposes is taken by all nodes that it is new to.
        auto const other = clients.lock("b");
        auto once = co_await other.acquire();
        BOOST_TEST(co_await co_eventually(5s, [&] { return once.nodes() == 5U; }));
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            BOOST_TEST(nodes.counter(n, "b") == once.token().value);
            BOOST_TEST(nodes[n].probe().pttl("redisson_lock_token:{b}") > 0);
        }
        co_await once.release();
    });
}

BOOST_AUTO_TEST_CASE(a_counter_at_its_end_or_of_another_kind_is_no_part_of_a_majority) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        nodes[0].probe().set("redisson_lock_token:{a}", "9007199254740991");
        auto lease = co_await clients.lock().acquire();
        BOOST_TEST(lease.nodes() == 2U);
        co_await lease.release();
        nodes[1].probe().set("redisson_lock_token:{a}", "text");
        auto const [ec, none] = co_await clients.lock().acquire(as_result);
        BOOST_TEST((ec == errc::corrupt_state));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

// Restarts

namespace {

holdfast::config with_delay(std::chrono::milliseconds delay) {
    auto settings = node_group::settings();
    settings.lease = 2s;
    settings.restart_delay = delay;
    return settings;
}

/// A holder has two nodes of three; one of them is restarted empty. What does another client get?
asio::awaitable<bool> second_holder(
    node_group& nodes,
    asio::any_io_executor executor,
    holdfast::config const& settings
) {
    auto here = nodes.clients(executor, with_delay(0ms));
    co_await get_to_know(here);
    nodes[2].kill();
    auto lease = co_await here.lock().acquire({.renew = false});
    BOOST_TEST(lease.nodes() == 2U);
    nodes[1].restart(false);
    nodes[2].restart(false);
    auto there = nodes.clients(executor, settings);
    co_await there.ready();
    auto const [ec, other] = co_await there.lock().try_acquire(as_result);
    co_return other.valid() && lease.valid();
}

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_that_were_restarted_without_their_data_would_grant_it_twice) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_delay(0ms);
        BOOST_TEST(co_await second_holder(nodes, executor, settings));
    });
}

BOOST_AUTO_TEST_CASE(they_are_left_out_until_what_they_forgot_has_ended) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_delay(2s);
        BOOST_TEST(!co_await second_holder(nodes, executor, settings));
        // For anybody, and not for ever.
        auto clients = nodes.clients(executor, settings);
        co_await clients.ready();
        auto const [ec, none] = co_await clients.lock("b").try_acquire(as_result);
        BOOST_TEST((ec == errc::quorum_not_reached));
        auto lease = co_await clients.lock("b").acquire();
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(a_lost_node_joins_again_and_a_lost_majority_is_told) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto lease = co_await clients.lock().acquire();
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 5U; }));
        bool told = false;
        loss_reason why = loss_reason::none;
        lease.wait_lost([&](error_code, loss_reason reason) {
            told = true;
            why = reason;
        });
        nodes[0].probe().del("a");
        nodes[1].probe().del("a");
        co_await lease.renew();
        BOOST_TEST(lease.nodes() == 3U);
        BOOST_TEST(lease.valid());
        BOOST_TEST((lease.loss() == loss_reason::none));
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 5U; }));
        BOOST_TEST(nodes.holding() == 5U);
        BOOST_TEST(nodes.counter(0) >= lease.token().value);
        BOOST_TEST(!told);
        // Those that joined later are watched, too.
        for (std::size_t i = 0; i < 3; ++i) {
            nodes[i].probe().del("a");
        }
        auto const [ec] = co_await lease.renew(as_result);
        BOOST_TEST((ec == errc::lease_lost));
        BOOST_TEST(co_await co_eventually(5s, [&] { return told; }));
        BOOST_TEST((why == loss_reason::deleted));
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.loss() == loss_reason::deleted));
        auto const [released] = co_await lease.release(as_result);
        BOOST_TEST((released == errc::lease_lost));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(nodes_may_be_restarted_one_after_the_other_under_a_lease) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto lease = co_await clients.lock().acquire();
        for (std::size_t i = 0; i < 3; ++i) {
            BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 3U; }));
            nodes[i].restart(false);
            BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 2U; }));
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 3U; }));
        BOOST_TEST(lease.valid());
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(a_majority_that_does_not_answer_is_lost_before_the_deadline) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto lease = co_await clients.lock().acquire();
        ended lost;
        lease_clock::time_point told{};
        lease.wait_lost([&](error_code, loss_reason) { told = lease_clock::now(); });
        nodes[0].pause();
        nodes[1].pause();
        BOOST_TEST(co_await co_eventually(5s, [&] { return told != lease_clock::time_point{}; }));
        BOOST_TEST((told < lease.deadline()));
        BOOST_TEST(!lease.valid());
        nodes[0].resume();
        nodes[1].resume();
        auto const [ec] = co_await lease.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
    });
}

BOOST_AUTO_TEST_CASE(the_usual_options_and_with_lease) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto const lock = clients.lock();
        auto body = [&](quorum_lease& held) -> asio::awaitable<std::uint64_t> {
            BOOST_TEST(held.valid());
            co_return held.token().value;
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, body) > 0U);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));

        auto limited = co_await lock.acquire({.max_hold = 2100ms});
        BOOST_TEST(co_await co_eventually(5s, [&] { return !limited.valid(); }));
        BOOST_TEST((limited.loss() == loss_reason::max_hold));
        limited = {};

        auto const me = holdfast::owner::make();
        acquire_options const mine{.owner = me};
        auto first = co_await lock.acquire(mine);
        auto second = co_await lock.acquire(mine);
        BOOST_TEST((second.token() >= first.token()));
        co_await first.release();
        BOOST_TEST(second.valid());
        auto const none = co_await lock.try_acquire();
        BOOST_TEST(!none);
        co_await second.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

namespace {

struct contest {
    int inside = 0;
    int rounds = 0;
    int workers = 0;
    std::uint64_t last = 0;
};

task compete(quorum_lock lock, contest& all) {
    for (int round = 0; round < 10; ++round) {
        auto lease = co_await lock.acquire();
        BOOST_TEST(++all.inside == 1);
        BOOST_TEST(lease.token().value > all.last);
        all.last = lease.token().value;
        co_await sleep_for(200us);
        --all.inside;
        co_await lease.release();
        ++all.rounds;
    }
    --all.workers;
}

}  // namespace

BOOST_AUTO_TEST_CASE(many_that_compete_split_the_nodes_and_all_get_the_lock_in_the_end) {
    with_nodes(
        5,
        [](node_group& nodes, asio::any_io_executor executor) -> task {
            std::deque<node_clients> processes;
            contest all;
            for (int i = 0; i < 4; ++i) {
                processes.push_back(nodes.clients(executor));
                co_await get_to_know(processes.back());
            }
            for (auto& each : processes) {
                for (int i = 0; i < 3; ++i) {
                    ++all.workers;
                    asio::co_spawn(executor, compete(each.lock(), all), asio::detached);
                }
            }
            BOOST_TEST(co_await co_eventually(40s, [&] { return all.workers == 0; }));
            BOOST_TEST(all.rounds == 120);
            BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
        },
        60s
    );
}

BOOST_AUTO_TEST_CASE(the_first_client_stops_and_its_waiters_are_told) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto holders = nodes.clients(executor);
        auto clients = nodes.clients(executor);
        co_await get_to_know(holders);
        co_await get_to_know(clients);
        auto lease = co_await holders.lock().acquire();
        ended first;
        ended second;
        clients.lock().acquire(first.handler());
        clients.lock().acquire(second.handler());
        co_await sleep_for(100ms);
        // Of the nodes, two are enough.
        co_await clients[1].shutdown();
        BOOST_TEST(!first.done());
        co_await clients[0].shutdown();
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.done() && second.done(); }));
        BOOST_TEST((first.ec == errc::client_stopped));
        BOOST_TEST((second.ec == errc::client_stopped));
        // A lease goes on without one of its clients.
        co_await holders[0].shutdown();
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.nodes() == 2U);
        co_await holders[1].shutdown();
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.loss() == loss_reason::client_stopped));
    });
}

namespace {

/// Three nodes behind gates, and a process that knows them.
struct gated_nodes {
    explicit gated_nodes(asio::any_io_executor const& executor) {
        auto settings = patient_config();
        settings.restart_delay = 0ms;
        for (auto& each : servers) {
            clients.push_back(each.make_client(executor, settings));
        }
    }
    quorum_lock lock(std::string const& name = "a") {
        return quorum_lock{clients[0].lock(name), clients[1].lock(name), clients[2].lock(name)};
    }
    void each(std::function<void(gated_server&)> const& what) {
        for (auto& one : servers) {
            what(one);
        }
    }
    bool all(std::function<bool(gated_server&)> const& holds) {
        return std::all_of(servers.begin(), servers.end(), holds);
    }

    std::array<gated_server, 3> servers;
    std::deque<holdfast::client> clients;
};

struct cancelled_at {
    char const* what;
    std::function<void(gated_server&)> before;
    // It has come so far on each node.
    std::function<bool(gated_server&)> reached;
    bool waits_for_the_reply;
};

task cancel_there(gated_nodes& nodes, cancelled_at const& point, asio::cancellation_type type) {
    for (auto& each : nodes.clients) {
        co_await each.ready();
    }
    auto once = co_await nodes.lock("another").acquire();
    co_await once.release();
    auto const clean = [&] {
        return nodes.all([](gated_server& one) { return one.lock_keys().empty(); });
    };
    BOOST_TEST(co_await co_eventually(10s, clean));
    nodes.each(point.before);
    ended one;
    nodes.lock().acquire(one.handler());
    BOOST_TEST(co_await co_eventually(10s, [&] { return nodes.all(point.reached); }));
    co_await sleep_for(20ms);
    BOOST_TEST(!one.done());
    auto const open = [](gated_server& server) {
        server.hold_requests(false);
        server.hold_replies(false);
    };
    one.signal.emit(type);
    if (type == asio::cancellation_type::total && point.waits_for_the_reply) {
        co_await sleep_for(20ms);
        BOOST_TEST(!one.done());
        nodes.each(open);
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
        BOOST_TEST(one.lease.valid());
        one.lease = {};
    } else {
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
        BOOST_TEST((one.ec == asio::error::operation_aborted));
        BOOST_TEST(!one.lease);
    }
    nodes.each(open);
    nodes.each([](gated_server& server) {
        server.set_up(true);
        server.unlock_as_other("a");
    });
    BOOST_TEST(co_await co_eventually(10s, clean));
    auto const idle = [&] {
        return std::all_of(nodes.clients.begin(), nodes.clients.end(), [](auto const& each) {
            auto const now = each.stats();
            return now.leases_now == 0 && now.waiters_now == 0;
        });
    };
    BOOST_TEST(co_await co_eventually(10s, idle));
    auto const unheard = [&] {
        return nodes.all([](gated_server& server) { return server.subscriptions() == 0; });
    };
    BOOST_TEST(co_await co_eventually(10s, unheard));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_cancellation_at_any_point_leaves_nothing) {
    std::string const held = "a";
    cancelled_at const points[] = {
        {"the requests are not executed",
         [](gated_server& server) { server.hold_requests(true); },
         [](gated_server& server) { return server.arrived("quorum_lock.acquire") > 0; },
         true},
        {"the requests are not answered",
         [](gated_server& server) { server.hold_replies(true); },
         [&](gated_server& server) { return server.exists(held); },
         true},
        {"another holder is waited for",
         [](gated_server& server) { server.lock_as_other("a", 1h); },
         [](gated_server& server) { return server.subscriptions() > 0; },
         false},
        {"there is no connection",
         [](gated_server& server) { server.set_up(false); },
         [](gated_server&) { return true; },
         false},
    };
    for (auto const& point : points) {
        for (auto const type :
             {asio::cancellation_type::terminal,
              asio::cancellation_type::partial,
              asio::cancellation_type::total}) {
            BOOST_TEST_CONTEXT(point.what << ", type " << static_cast<int>(type)) {
                run_with_deadline([&](asio::any_io_executor executor) -> task {
                    gated_nodes nodes{executor};
                    co_await cancel_there(nodes, point, type);
                });
            }
        }
    }
}
