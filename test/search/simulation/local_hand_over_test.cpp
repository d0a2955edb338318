// How a lock goes from one holder of a client to the next without a command: a scenario for each
// rule, which breaks when the rule is taken out. `mutants.toml` takes them out.

#include "simulation/hand_over_stage.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

using namespace holdfast;
using namespace holdfast::sim;
using asked = hand_over_stage::asked;

namespace {

// A holder, and one of its client that has waited since before the grant, on another thread.
struct with_local_waiters final : hand_over_stage {
    explicit with_local_waiters(
        std::chrono::milliseconds lease_time = 60s,
        acquire_options const& holders = {},
        acquire_options const& waiters = {},
        std::uint64_t seed = 1
    )
        : hand_over_stage{lease_time, seed},
          one{&add_ready()},
          on_another{&one->of().new_lane()} {
        nexts = std::make_shared<call<lease>>(one->of().executor_of(*on_another));
        held = one->acquire(holders);
        in().within(*on_another, [&] { one->lock("lock").acquire(waiters, nexts->token()); });
        BOOST_TEST_REQUIRE(granted(*held));
    }

    actor* one;
    lane* on_another;
    asked nexts;
};

}  // namespace

BOOST_AUTO_TEST_CASE(waiters_get_the_lock_in_the_order_in_which_they_came) {
    hand_over_stage all;
    auto& one = all.add_holder();
    std::vector<asked> waiting;
    for (int i = 0; i < 5; ++i) {
        waiting.push_back(one.acquire());
    }
    all.run_for(50ms);
    auto held = all.held;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        one.drop(*held);
        BOOST_TEST_REQUIRE(all.granted(*waiting[i]));
        for (std::size_t j = i + 1; j < waiting.size(); ++j) {
            BOOST_TEST(!waiting[j]->done);
        }
        held = waiting[i];
    }
    one.drop(*held);
    BOOST_TEST(all.close_all() == "");
}

// What is left of the tokens of a hold is not used after it.
BOOST_AUTO_TEST_CASE(no_token_is_given_out_twice) {
    hand_over_stage all;
    auto& one = all.add_holder();
    std::uint64_t last = hand_over_stage::token_of(*all.held);
    auto held = all.held;
    auto* holder = &one;
    auto& two = all.add_ready();
    for (int run = 0; run < 2; ++run) {
        std::vector<asked> waiting;
        for (int i = 0; i < 4; ++i) {
            waiting.push_back(holder->acquire());
        }
        all.run_for(50ms);
        for (auto const& next : waiting) {
            holder->drop(*held);
            BOOST_TEST_REQUIRE(all.granted(*next));
            BOOST_TEST(hand_over_stage::token_of(*next) > last);
            last = hand_over_stage::token_of(*next);
            held = next;
        }
        auto* const other = holder == &one ? &two : &one;
        auto const next = other->acquire();
        all.run_for(50ms);
        holder->drop(*held);
        BOOST_TEST_REQUIRE(all.granted(*next));
        BOOST_TEST(hand_over_stage::token_of(*next) > last);
        last = hand_over_stage::token_of(*next);
        held = next;
        holder = other;
    }
}

// It may still be using what `remaining()` says.
BOOST_AUTO_TEST_CASE(a_lease_that_was_lost_by_time_is_succeeded_when_its_deadline_has_passed) {
    with_local_waiters all{30s, {}, {.lease = 1s, .max_hold = 1'200ms}};
    auto& one = *all.one;
    auto const brief = all.nexts;
    auto const next = one.acquire();
    one.drop(*all.held);
    BOOST_TEST_REQUIRE(all.granted(*brief));
    all.run_for(1'250ms);
    BOOST_TEST(!hand_over_stage::valid(one, *brief));
    BOOST_TEST((hand_over_stage::remaining(one, *brief) > 0ms));
    BOOST_TEST_REQUIRE(all.granted(*next));
    BOOST_TEST((hand_over_stage::remaining(one, *brief) <= 0s));
}

// Nothing ran from before the loss until after the deadline. On one thread or two, the client may
// look first.
BOOST_AUTO_TEST_CASE(a_loss_that_was_slept_through_is_told_before_the_lock_goes_on) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        with_local_waiters all{30s, {}, {.lease = 1s, .max_hold = 1'200ms}, seed};
        auto& one = *all.one;
        auto const brief = all.nexts;
        auto const next = one.acquire();
        one.drop(*all.held);
        BOOST_TEST_REQUIRE(all.granted(*brief));
        auto const told =
            std::make_shared<call<loss_reason>>(one.of().executor_of(*all.on_another));
        all.in().within(*all.on_another, [&] {
            hand_over_stage::lease_of(*brief).wait_lost(told->token());
        });
        all.run_for(100ms);
        one.of().pause();
        all.run_for(5s);
        one.of().resume();
        BOOST_TEST_REQUIRE(all.granted(*next));
        all.run_for(10ms);
        BOOST_TEST(told->done);
    }
}

// Their hold goes back to the server with the last lease of one who can still act by it.
BOOST_AUTO_TEST_CASE(a_reader_that_was_stuck_when_the_others_gave_the_lock_back_is_told_of_the_loss
) {
    hand_over_stage all{1s};
    auto& one = all.add_ready();
    auto& on_another = one.of().new_lane();
    auto const read = [&](lane& on) {
        auto const reading = std::make_shared<call<lease>>(one.of().executor_of(on));
        all.in().within(on, [&] {
            one.client().read_write_lock("lock").read().acquire(reading->token());
        });
        BOOST_TEST_REQUIRE(all.granted(*reading));
        return reading;
    };
    auto const stuck = read(on_another);
    auto const watching = std::make_shared<call<loss_reason>>(one.of().executor_of(on_another));
    all.in().within(on_another, [&] { std::get<0>(*stuck->results).wait_lost(watching->token()); });
    all.run_for(1ms);
    one.of().block(on_another);
    auto const other = read(one.on());
    all.run_for(2s);
    one.drop(*other);
    all.run_for(100ms);
    BOOST_TEST(all.left_behind() == "");
    BOOST_TEST(!watching->done);
    one.of().unblock(on_another);
    all.run_for(1ms);
    BOOST_TEST(watching->done);
}

BOOST_AUTO_TEST_CASE(a_lock_whose_time_is_half_over_is_renewed_before_it_goes_on) {
    with_local_waiters all{3s, {.renew = false}};
    all.run_for(2s);
    all.one->drop(*all.held);
    BOOST_TEST_REQUIRE(all.granted(*all.nexts));
    BOOST_TEST((hand_over_stage::remaining(*all.one, *all.nexts) > 1'500ms));
    BOOST_TEST(all.one->client().stats().hand_overs_by.own_client == 1U);
}

// Somebody has taken it by force. The next waiter must not believe that it is still ours.
BOOST_AUTO_TEST_CASE(a_lock_that_may_be_lost_does_not_go_on_before_the_server_has_been_asked) {
    with_local_waiters all;
    all.run_for(50ms);
    all.on().as_operator({"DEL", "lock"});
    all.on().as_operator({"HSET", "lock", "5f0c0000-0000-0000-0000-000000000000:7", "1"});
    all.on().as_operator({"PEXPIRE", "lock", "10000"});
    all.on().as_operator({"PUBLISH", "redisson_lock__channel:{lock}", "0"});
    all.run_for(50ms);
    all.one->drop(*all.held);
    all.run_for(1s);
    BOOST_TEST(!all.nexts->done);
}

// Its holder does not answer, so an operator takes the lock from it.
BOOST_AUTO_TEST_CASE(a_forced_release_wakes_those_who_wait_behind_a_holder_of_their_own_client) {
    with_local_waiters all;
    all.one->of().block(all.one->on());
    all.run_for(1s);
    auto& two = all.add_ready();
    auto const forced = two.make_call<bool>();
    two.run([&] { two.lock("lock").force_release(forced->token()); });
    BOOST_TEST(all.granted(*all.nexts));
}

// It came when the lock had just been granted to a try, and another waiter had joined that lease.
BOOST_AUTO_TEST_CASE(whoever_waits_behind_a_try_of_its_own_client_hears_of_a_forced_release) {
    hand_over_stage all;
    auto& one = all.add_ready();
    auto& lane = one.of().new_lane();
    auto const who = owner::make();
    auto const tried = one.make_call<lease>();
    auto const joined = std::make_shared<call<lease>>(one.of().executor_of(lane));
    auto const next = std::make_shared<call<lease>>(one.of().executor_of(lane));
    one.run([&] { one.lock("lock").try_acquire({.owner = who}, tried->token()); });
    all.in().within(lane, [&] { one.lock("lock").acquire({.owner = who}, joined->token()); });
    BOOST_TEST_REQUIRE(all.granted(*tried));
    BOOST_TEST_REQUIRE(all.granted(*joined));
    all.in().within(lane, [&] { one.lock("lock").acquire(next->token()); });
    all.run_for(50ms);
    one.of().block(one.on());
    auto& two = all.add_ready();
    auto const forced = two.make_call<bool>();
    two.run([&] { two.lock("lock").force_release(forced->token()); });
    BOOST_TEST(all.granted(*next));
}

BOOST_AUTO_TEST_CASE(a_run_ends_after_64_grants_if_another_client_waits) {
    hand_over_stage all;
    auto& holder = all.add_holder();
    auto& one = all.add_ready();
    constexpr std::size_t many = 300;
    std::size_t granted = 0;
    for (std::size_t i = 0; i < many; ++i) {
        one.run([&] {
            // The lease goes with its argument.
            one.lock("lock").acquire(asio::bind_executor(one.executor(), [&](error_code, lease) {
                ++granted;
            }));
        });
    }
    all.run_for(50ms);
    asked wanted;
    auto& two = all.add_waiter(wanted);
    holder.drop(*all.held);
    BOOST_TEST_REQUIRE(all.granted(*wanted));
    BOOST_TEST(granted == 64U);
    two.drop(*wanted);
    all.run_for(5s);
    BOOST_TEST(granted == many);
    BOOST_TEST(all.close_all() == "");
}

// Whoever has had it is busy with something else. Whoever has it now is renewed on its own thread.
BOOST_AUTO_TEST_CASE(a_lock_is_renewed_for_the_holder_that_has_it) {
    for (bool const stuck : {false, true}) {
        with_local_waiters all{3s};
        auto& one = *all.one;
        one.drop(*all.held);
        BOOST_TEST_REQUIRE(all.granted(*all.nexts));
        BOOST_TEST(one.client().stats().hand_overs_by.own_client == 1U);
        auto& two = all.add_ready();
        auto const wanted = two.acquire();
        all.run_for(50ms);
        auto& blocked = stuck ? *all.on_another : one.on();
        one.of().block(blocked);
        BOOST_TEST(all.granted(*wanted, 10s) == stuck);
        one.of().unblock(blocked);
    }
}

// There are others to whom it will go, and tokens are asked for them.
BOOST_AUTO_TEST_CASE(tokens_for_waiters_do_not_keep_a_lock_whose_holder_is_stuck) {
    with_local_waiters all{3s};
    auto& one = *all.one;
    auto& two = all.add_ready();
    auto const wanted = two.acquire();
    all.run_for(50ms);
    one.of().block(one.on());
    std::vector<asked> waiting;
    bool had_it = false;
    for (int i = 0; i < 100 && !had_it; ++i) {
        waiting.push_back(std::make_shared<call<lease>>(one.of().executor_of(*all.on_another)));
        all.in().within(*all.on_another, [&] {
            one.lock("lock").acquire(waiting.back()->token());
        });
        had_it = all.granted(*wanted, 50ms);
    }
    BOOST_TEST(had_it);
}

// The hold has a long lease, and its next holder wants a short one.
BOOST_AUTO_TEST_CASE(a_renewal_does_not_shorten_the_life_of_a_lock) {
    with_local_waiters all{30s, {}, {.lease = 3s}};
    auto& one = *all.one;
    auto const brief = all.nexts;
    one.drop(*all.held);
    BOOST_TEST_REQUIRE(all.granted(*brief));
    BOOST_TEST((hand_over_stage::remaining(one, *brief) <= 3s));
    auto const end = all.end_on_server();
    all.run_for(5s);
    BOOST_TEST(one.client().stats().renewals > 1U);
    BOOST_TEST((all.end_on_server() >= end));
    BOOST_TEST((hand_over_stage::remaining(one, *brief) <= 3s));
}
