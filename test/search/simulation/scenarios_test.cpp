// What the search has found, or would hardly find, told as a story: the names say how it ends well.

#include "simulation/stage.hpp"

#include <holdfast.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <tuple>

using namespace holdfast;
using namespace holdfast::sim;

namespace {

bool succeeded(stage& on, call<lease> const& asked, nanos limit = 60s) {
    BOOST_TEST(on.run_until([&] { return asked.done; }, limit));
    BOOST_TEST(asked.error.message() == error_code{}.message());
    return asked.done && !asked.error;
}

// Two processes: one has the lock, the other waits for it.
struct held_and_awaited : stage {
    explicit held_and_awaited(std::chrono::milliseconds lease_time) {
        settings().lease = lease_time;
        holder = &add_ready();
        held = holder->acquire();
        run_until([&] { return held->done; });
        one = &add_ready();
        waiting = one->acquire();
    }

    actor* holder;
    actor* one;
    std::shared_ptr<call<lease>> held;
    std::shared_ptr<call<lease>> waiting;
};

}  // namespace

// One answer is missing, so each error is taken for the answer to the request before, which has
// been given up by then. Errors carry no nonce: nothing told that the answers were one behind, and
// the script was never sent in full.
BOOST_AUTO_TEST_CASE(an_answer_that_is_missing_shows_although_every_request_is_refused) {
    stage all;
    all.on().set_clients_idle(false);
    auto& one = all.add_ready();
    for (auto const& link : all.on().links()) {
        if (link->is_for_commands()) {
            link->set_answer_fault(answer_fault::drop);
        }
    }
    auto const asked = one.acquire();
    // Two attempts that get no answer in time, a new connection, and one that does.
    BOOST_TEST(succeeded(all, *asked, 2s));
    one.drop(*asked);
    BOOST_TEST(all.close_all() == "");
}

// The timer that all leases of a client share was set before the suspend, for the other one.
BOOST_AUTO_TEST_CASE(a_lease_that_is_taken_after_a_suspend_is_renewed) {
    stage all;
    auto& one = all.add_ready();
    auto const before = one.acquire("another");
    BOOST_TEST(all.run_until([&] { return before->done; }));
    one.of().suspend();
    all.run_for(10 * all.settings().lease);
    one.of().resume();

    auto const after = one.acquire();
    BOOST_TEST(succeeded(all, *after));
    all.run_for(3 * all.settings().lease);
    one.run([&] {
        BOOST_TEST((std::get<lease>(*before->results).loss() == loss_reason::expired));
        BOOST_TEST(std::get<lease>(*after->results).valid());
    });
    one.drop(*before);
    one.drop(*after);
    BOOST_TEST(all.close_all() == "");
}

// Without a health check: a time-out of the requests and one more are enough.
BOOST_AUTO_TEST_CASE(a_connection_on_which_nothing_is_answered_is_left) {
    stage all;
    auto& one = all.add_ready();
    for (auto const& link : all.on().links()) {
        if (link->is_for_commands()) {
            link->way(direction::to_server).black_hole = true;
        }
    }
    auto const asked = one.acquire();
    BOOST_TEST(succeeded(all, *asked, 2s));
    one.drop(*asked);
    BOOST_TEST(all.close_all() == "");
}

// The waiters of another client look again when the lease that they know of would end; those of
// this client need no notification.
BOOST_AUTO_TEST_CASE(a_forced_release_that_may_not_be_announced_wakes_its_own_clients_waiters) {
    held_and_awaited all{60s};
    auto& one = *all.one;
    all.run_for(100ms);

    user_rules rules;
    rules.denied_commands.insert("publish");
    all.on().data().set_user("default", rules);
    auto const forced = one.make_call<bool>();
    one.run([&] { one.lock("lock").force_release(forced->token()); });
    BOOST_TEST(all.run_until([&] { return all.waiting->done; }, 1s));
    BOOST_TEST(forced->done);

    all.holder->drop(*all.held);
    one.drop(*all.waiting);
    BOOST_TEST(all.close_all() == "");
}

// After a suspend the answer in the socket is read before any timer, whose clock stood still, tells
// that there has been none in time.
BOOST_AUTO_TEST_CASE(a_grant_that_was_slept_through_is_asked_for_again) {
    stage all;
    auto& one = all.add_ready();
    // So that the server knows the script, and both connections are made.
    auto const before = one.acquire("another");
    all.run_for(1s);
    auto const asked = one.acquire();
    all.run_for(0s);
    one.of().suspend();
    all.run_for(100ms);
    BOOST_TEST(all.on().data().pttl("lock") > 0);
    all.run_for(2 * all.settings().lease);
    BOOST_TEST(!asked->done);
    one.of().resume();

    BOOST_TEST(all.run_until([&] { return asked->done; }));
    one.run([&] {
        BOOST_TEST(asked->error.message() == error_code{}.message());
        BOOST_TEST((std::get<lease>(*asked->results).state() == lease_state::held));
        asked->results.reset();
        before->results.reset();
    });
    BOOST_TEST(all.close_all() == "");
}

// One waits on a lock that another process has; then nobody can be asked any more. What the waiter
// was told before is no answer to a later question.
BOOST_AUTO_TEST_CASE(a_try_is_not_busy_by_what_a_waiter_heard_before_the_server_died) {
    held_and_awaited all{30s};
    auto& one = *all.one;
    all.run_for(2s);
    all.on().kill();
    all.run_for(100ms);

    auto const asked = one.make_call<lease>();
    one.run([&] { one.lock("lock").try_acquire_for(1s, asked->token()); });
    BOOST_TEST(all.run_until([&] { return asked->done; }, 2s));
    BOOST_TEST(asked->error.message() == make_error_code(errc::unreachable).message());
    BOOST_TEST(!all.waiting->done);

    all.on().start(true);
    all.holder->drop(*all.held);
    BOOST_TEST(succeeded(all, *all.waiting));
    one.drop(*all.waiting);
    BOOST_TEST(all.close_all() == "");
}

// The key ends earlier than the waiter was told, and nobody says so. Whoever comes next asks the
// server himself, and his question is one for all who wait: they get the lock in their order.
BOOST_AUTO_TEST_CASE(a_newcomer_finds_the_lock_free_that_a_sleeping_waiter_takes_for_held) {
    for (bool const limited : {false, true}) {
        stage all;
        auto& one = all.add_ready();
        auto& on = all.on();
        on.as_operator({"HSET", "lock", "5f0c0000-0000-0000-0000-000000000000:7", "1"});
        on.as_operator({"PEXPIRE", "lock", "12000"});
        auto const first = one.acquire();
        all.run_for(1s);
        BOOST_TEST(!first->done);
        on.as_operator({"DEL", "lock"});

        auto const second = one.make_call<lease>();
        one.run([&] {
            if (limited) {
                one.lock("lock").try_acquire_for(2s, second->token());
            } else {
                one.lock("lock").acquire(second->token());
            }
        });
        BOOST_TEST_REQUIRE(all.run_until([&] { return first->done; }, 500ms));
        BOOST_TEST(!second->done);
        one.drop(*first);
        BOOST_TEST_REQUIRE(all.run_until([&] { return second->done; }, 500ms));
        BOOST_TEST(second->error.message() == error_code{}.message());
        one.run([&] {
            BOOST_TEST(std::get<lease>(*second->results).valid());
            second->results.reset();
        });
        BOOST_TEST(all.close_all() == "");
    }
}

// The time of some of them is up while the server is being asked. A server that answers can be
// reached.
BOOST_AUTO_TEST_CASE(a_short_try_of_a_busy_lock_finds_it_busy) {
    held_and_awaited all{60s};
    auto& alone = all.add_ready();
    for (auto* const who : {all.one, &alone}) {
        for (int i = 0; i < 400; ++i) {
            auto const asked = who->make_call<lease>();
            auto const limit = i % 40 * 1ms + 100us;
            auto const began = all.in().now();
            who->run([&] { who->lock("lock").try_acquire_for(limit, asked->token()); });
            BOOST_TEST_REQUIRE(all.run_until([&] { return asked->done; }, limit + 101ms));
            BOOST_TEST(asked->error.message() == error_code{}.message());
            who->run([&] { BOOST_TEST(!std::get<lease>(*asked->results)); });
            BOOST_TEST((all.in().now() - began >= limit));
        }
    }
    all.holder->drop(*all.held);
    BOOST_TEST(succeeded(all, *all.waiting));
    all.one->drop(*all.waiting);
    BOOST_TEST(all.close_all() == "");
}

// Redisson lets a holder enter again for a shorter time, and the key ends by that. Nobody says so.
BOOST_AUTO_TEST_CASE(a_lease_that_was_shortened_keeps_nobody_from_a_free_lock) {
    for (bool const deleted : {false, true}) {
        for (nanos const limit : {20ms, 2'000ms}) {
            stage all;
            auto& one = all.add_ready();
            auto& on = all.on();
            on.as_operator({"HSET", "lock", "5f0c0000-0000-0000-0000-000000000000:7", "1"});
            on.as_operator({"PEXPIRE", "lock", "8000"});
            auto const first = one.acquire();
            all.run_for(1s);
            if (deleted) {
                on.as_operator({"DEL", "lock"});
            } else {
                on.as_operator({"HSET", "lock", "5f0c0000-0000-0000-0000-000000000000:7", "2"});
                on.as_operator({"PEXPIRE", "lock", "1000"});
            }
            all.run_for(1001ms);
            BOOST_TEST(!first->done);

            auto const second = one.make_call<lease>();
            one.run([&] { one.lock("lock").try_acquire_for(limit, second->token()); });
            // The first one is served first.
            BOOST_TEST(all.run_until([&] { return first->done; }, 500ms));
            one.drop(*first);
            BOOST_TEST(all.run_until([&] { return second->done; }, 500ms));
            BOOST_TEST(second->error.message() == error_code{}.message());
            if (limit > 1s) {
                one.run([&] { BOOST_TEST(std::get<lease>(*second->results).valid()); });
            }
            one.drop(*second);
            BOOST_TEST(all.close_all() == "");
        }
    }
}

// The watchdog of a Java reader sets the expiry of the whole lock to 30 s, whatever a reader in C++
// has asked for.
BOOST_AUTO_TEST_CASE(a_java_reader_shortens_no_read_lease) {
    for (bool const together : {false, true}) {
        stage all;
        auto& reader = all.add_ready();
        auto& other = all.add_ready();
        acquire_options const options{.lease = 2min};
        bool valid = false;
        lease alone;
        multi_lease both;
        reader.run([&] {
            auto const read = reader.client().read_write_lock("lock").read();
            if (together) {
                multi_lock const pair{read, reader.lock("x")};
                pair.acquire(options, [&](error_code, multi_lease got) { both = std::move(got); });
            } else {
                read.acquire(options, [&](error_code, lease got) { alone = std::move(got); });
            }
        });
        auto const is_valid = [&] {
            reader.run([&] { valid = alone.valid() || both.valid(); });
            return valid;
        };
        BOOST_TEST_REQUIRE(all.run_until(is_valid, 1s));
        all.on().as_operator({"PEXPIRE", "lock", "30000"});
        all.run_for(32s);
        auto const writer = other.make_call<lease>();
        other.run([&] {
            other.client().read_write_lock("lock").write().try_acquire(writer->token());
        });
        BOOST_TEST_REQUIRE(all.run_until([&] { return writer->done; }, 1s));
        other.run([&] { BOOST_TEST(!std::get<lease>(*writer->results)); });
        BOOST_TEST(is_valid());
        reader.run([&] {
            alone = {};
            both = {};
        });
        other.drop(*writer);
        BOOST_TEST(all.close_all() == "");
    }
}

// The server knows the script of the withdrawal and not that of the attempt, which would be sent
// again behind it. The answer to the withdrawal is all that the client waits for.
BOOST_AUTO_TEST_CASE(an_attempt_is_not_sent_again_behind_the_withdrawal_of_a_client_that_goes) {
    stage all;
    auto& other = all.add_ready();
    auto& one = all.add_ready();
    auto const held = other.acquire("another");
    BOOST_TEST(succeeded(all, *held));
    all.on().as_operator({"SCRIPT", "FLUSH"});
    other.drop(*held);
    all.run_for(1s);

    int attempts = 0;
    all.on().on_script = [&](script_event const& what) {
        if (what.script == "lock.acquire" && ++attempts == 1) {
            // The withdrawal is answered later.
            all.on().pause();
            all.in().after(5ms, [&] { all.on().resume(); });
        }
    };
    auto const asked = one.acquire();
    one.close();
    BOOST_TEST(all.run_until([&] { return asked->done; }, 1s));
    BOOST_TEST(asked->error.message() == make_error_code(errc::client_stopped).message());
    all.run_for(100ms);
    BOOST_TEST(attempts == 1);
    BOOST_TEST(all.left_behind() == "");
    BOOST_TEST(all.close_all() == "");
}

// The message that takes the lock from its holder does not arrive: the client did not listen yet,
// or not at that moment. The holder would find out when it renews, which is long after.
BOOST_AUTO_TEST_CASE(a_lock_that_is_forced_unheard_goes_to_the_next_waiter_of_the_same_client) {
    for (bool const by_itself : {false, true}) {
        for (bool const listened : {false, true}) {
            BOOST_TEST_CONTEXT(by_itself << listened) {
                stage all;
                all.settings().lease = 1h;
                auto& other = all.add_ready();
                auto& one = all.add_ready();
                auto const stop_listening = [&] {
                    all.on().set_refuses_connections(true);
                    for (auto const& link : all.on().links()) {
                        if (link->of() == one.of().number() && !link->is_for_commands()) {
                            link->close_by_server(asio::error::connection_reset);
                        }
                    }
                    all.run_for(10ms);
                };
                if (!listened) {
                    stop_listening();
                }
                auto const first = one.acquire();
                auto const second = one.acquire();
                BOOST_TEST(succeeded(all, *first));
                all.run_for(100ms);
                if (listened) {
                    stop_listening();
                }
                auto& by = by_itself ? one : other;
                auto const forced = by.make_call<bool>();
                by.run([&] { by.lock("lock").force_release(forced->token()); });
                if (!by_itself) {
                    all.run_for(100ms);
                    BOOST_TEST(!second->done);
                    all.on().set_refuses_connections(false);
                }
                BOOST_TEST(succeeded(all, *second, by_itself ? 100ms : 3s));
                all.on().set_refuses_connections(false);
                one.drop(*first);
                one.drop(*second);
                BOOST_TEST(all.close_all() == "");
            }
        }
    }
}

// The client has asked the server a moment before the lock is forced. It asks again when the
// subscription is confirmed.
BOOST_AUTO_TEST_CASE(a_lock_that_is_forced_before_the_subscription_goes_to_the_next_waiter) {
    stage all;
    all.settings().lease = 1h;
    auto& other = all.add_ready();
    auto& one = all.add_ready();
    for (auto const& link : all.on().links()) {
        if (link->of() == one.of().number() && !link->is_for_commands()) {
            link->way(direction::to_server).last_arrival = all.in().now() + 5ms;
        }
    }
    auto const first = one.acquire();
    auto const second = one.acquire();
    BOOST_TEST(succeeded(all, *first));
    auto const forced = other.make_call<bool>();
    other.run([&] { other.lock("lock").force_release(forced->token()); });
    BOOST_TEST(succeeded(all, *second, 3s));
    one.drop(*first);
    one.drop(*second);
    BOOST_TEST(all.close_all() == "");
}

// Its holder knows, and keeps its lease.
BOOST_AUTO_TEST_CASE(a_renewal_that_finds_the_lock_gone_is_a_reason_for_those_behind_it_to_ask) {
    stage all;
    all.settings().lease = 30s;
    auto& one = all.add_ready();
    auto const first = one.acquire();
    auto const second = one.acquire();
    BOOST_TEST(succeeded(all, *first));
    all.run_for(1s);
    all.on().as_operator({"DEL", "lock"});
    BOOST_TEST(succeeded(all, *second, 12s));
    one.drop(*first);
    one.drop(*second);
    BOOST_TEST(all.close_all() == "");
}

// Nobody is there to give that place up. The server knows only that it is silent.
BOOST_AUTO_TEST_CASE(
    a_place_in_a_fair_queue_that_a_repeated_attempt_took_for_nobody_ends_in_a_minute
) {
    for (bool const waits : {false, true}) {
        stage all;
        auto& one = all.add_ready();
        auto& other = all.add_ready();
        auto const acquire = [](actor& by) {
            auto const asked = by.make_call<lease>();
            by.run([&] { by.client().fair_lock("fair").acquire(asked->token()); });
            return asked;
        };
        // So that the server knows the script.
        auto const before = acquire(other);
        BOOST_TEST(succeeded(all, *before));
        if (!waits) {
            other.drop(*before);
            all.run_for(100ms);
        }
        all.on().run_twice("fair_lock.acquire", 1s);
        auto const asked = acquire(one);
        all.run_for(100ms);
        if (waits) {
            other.drop(*before);
        }
        BOOST_TEST(succeeded(all, *asked));
        one.drop(*asked);
        auto const held = acquire(other);
        BOOST_TEST(succeeded(all, *held));
        all.run_for(1s);
        BOOST_TEST(all.on().data().exists("redisson_lock_queue:{fair}"));
        other.drop(*held);
        all.run_for(63s);
        BOOST_TEST(all.left_behind() == "");
        BOOST_TEST(all.close_all() == "");
    }
}
