// How a lock goes from one client to the next: a scenario for each rule, which breaks when the rule
// is taken out. `mutants.toml` takes them out.

#include "simulation/hand_over_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast;
using namespace holdfast::sim;
using asked = hand_over_stage::asked;

// --- places in the queue

BOOST_AUTO_TEST_CASE(clients_get_the_lock_in_the_order_in_which_they_came) {
    with_a_queue all;
    asked fourths;
    auto& fourth = all.add_waiter(fourths);
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    all.second->drop(*all.seconds);
    BOOST_TEST_REQUIRE(all.granted(*all.thirds));
    BOOST_TEST(!fourths->done);
    all.third->drop(*all.thirds);
    BOOST_TEST_REQUIRE(all.granted(*fourths));
    fourth.drop(*fourths);
    BOOST_TEST(all.close_all() == "");
}

// Somebody who has just come may find the lock free, because nobody gave it back.
BOOST_AUTO_TEST_CASE(a_free_lock_is_not_taken_past_the_queue) {
    with_a_queue all;
    auto& newcomer = all.add_ready();
    all.on().data().erase("lock");
    auto const wanted = newcomer.make_call<lease>();
    newcomer.run([&] { newcomer.lock("lock").try_acquire(wanted->token()); });
    BOOST_TEST_REQUIRE(all.granted(*wanted));
    BOOST_TEST(!hand_over_stage::valid(newcomer, *wanted));
    BOOST_TEST(all.granted(*all.seconds));
    BOOST_TEST(!all.thirds->done);
}

BOOST_AUTO_TEST_CASE(a_client_whose_messages_may_not_arrive_yet_takes_no_place) {
    hand_over_stage all;
    all.add_holder();
    auto& late = all.add_ready();
    all.delay_to_client(late, false, 500ms);
    auto const wanted = late.acquire();
    all.run_for(400ms);
    BOOST_TEST(all.waiting_clients() == 0);
    all.run_for(200ms);
    BOOST_TEST(all.waiting_clients() == 1);
}

BOOST_AUTO_TEST_CASE(a_try_takes_no_place) {
    with_a_queue all;
    auto& trying = all.add_ready();
    auto const wanted = trying.make_call<lease>();
    trying.run([&] { trying.lock("lock").try_acquire(wanted->token()); });
    BOOST_TEST_REQUIRE(all.granted(*wanted));
    BOOST_TEST(all.waiting_clients() == 2);
}

BOOST_AUTO_TEST_CASE(a_client_whose_last_waiter_goes_leaves_the_queue) {
    with_a_queue all;
    all.second->run([&] { all.seconds->cancel(asio::cancellation_type::terminal); });
    all.run_for(50ms);
    BOOST_TEST(all.seconds->error == asio::error::operation_aborted);
    BOOST_TEST(all.waiting_clients() == 1);
    all.give_back();
    BOOST_TEST(all.granted(*all.thirds, 20ms));
}

// It was passed over, which took it out of the queue. It comes back to where it was.
BOOST_AUTO_TEST_CASE(a_place_is_kept_through_a_reconnection) {
    with_a_queue all;
    asked fourths;
    all.add_waiter(fourths);
    auto const passed_over = all.second->of().number();
    all.on().set_refuses_connections(true);
    for (auto const& one : all.on().links()) {
        if (one->of() == passed_over) {
            one->close_by_server(asio::error::connection_reset);
        }
    }
    all.run_for(10ms);
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.thirds));
    all.on().set_refuses_connections(false);
    all.run_for(5s);
    BOOST_TEST(all.waiting_clients() == 2);
    all.third->drop(*all.thirds);
    BOOST_TEST_REQUIRE(all.granted(*all.seconds, 100ms));
    BOOST_TEST(!fourths->done);
    all.second->drop(*all.seconds);
    BOOST_TEST(all.granted(*fourths, 100ms));
}

namespace {

// Two clients pass the lock to each other, and others wait. The connections of those that wait are
// cut at once, and cannot be made again for a while.
class storm : public hand_over_stage {
public:
    storm() {
        first_ = &add_holder();
        second_ = &add_waiter(seconds_);
        for (auto& one : wanted_) {
            waiters_.push_back(&add_waiter(one));
        }
    }
    void cut_for(nanos length) {
        on().set_refuses_connections(true);
        for (auto const& link : on().links()) {
            if (std::ranges::any_of(waiters_, [&](auto* one) {
                    return one->of().number() == link->of();
                })) {
                link->close_by_server(asio::error::connection_reset);
            }
        }
        auto const end = in().now() + length;
        while (in().now() < end) {
            pass();
        }
        on().set_refuses_connections(false);
        run_for(5s);
    }
    // So many that came first have gone.
    void add_dead(int count) {
        for (int i = 0; i < count; ++i) {
            auto const id = "0f4b1c5e-7a3d-4e8b-9c21-" + std::to_string(100'000'000'000 + i) + ":1";
            on().as_operator({"ZADD", "holdfast_queue:{lock}", std::to_string(i + 1), id + " 3000"}
            );
        }
    }
    // The numbers of those that wait, as they are granted the lock: each gives it back at once.
    std::vector<std::size_t> order_of_grants() {
        first_->drop(*held);
        std::vector<std::size_t> order;
        run_until(
            [&] {
                for (std::size_t i = 0; i < waiters_.size(); ++i) {
                    if (wanted_[i]->done && wanted_[i]->results) {
                        order.push_back(i);
                        waiters_[i]->drop(*wanted_[i]);
                    }
                }
                return order.size() == waiters_.size();
            },
            20s
        );
        return order;
    }
    [[nodiscard]] std::vector<std::size_t> order_of_arrival() const {
        std::vector<std::size_t> order(waiters_.size());
        std::iota(order.begin(), order.end(), 0U);
        return order;
    }

private:
    void pass() {
        run_for(50ms);
        first_->drop(*held);
        BOOST_TEST_REQUIRE(granted(*seconds_));
        held = first_->acquire();
        std::swap(held, seconds_);
        std::swap(first_, second_);
    }

    actor* first_;
    actor* second_;
    asked seconds_;
    std::array<asked, 8> wanted_;
    std::vector<actor*> waiters_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_order_of_arrival_survives_a_cut_of_all_connections) {
    for (auto const length : {nanos{1s}, nanos{10s}}) {
        for (int const dead : {0, 1, 64, 200}) {
            BOOST_TEST_CONTEXT(length.count() / 1'000'000 << " ms, " << dead << " have gone") {
                storm all;
                all.add_dead(dead);
                all.cut_for(length);
                all.add_dead(dead);
                BOOST_TEST(
                    all.order_of_grants() == all.order_of_arrival(),
                    boost::test_tools::per_element()
                );
            }
        }
    }
}

// The lock was its own when the message came too late, and another one's when it asked.
BOOST_AUTO_TEST_CASE(a_client_that_could_not_claim_the_lock_comes_back_to_its_place) {
    with_a_queue all;
    asked fourths;
    all.add_waiter(fourths);
    all.delay_to_client(*all.second, true, 10s);
    all.delay_to_client(*all.second, false, 4s);
    all.give_back();
    // Its time to claim the lock is over.
    BOOST_TEST_REQUIRE(all.granted(*all.thirds, 4s));
    all.run_for(15s);
    BOOST_TEST(!all.seconds->done);
    BOOST_TEST(all.waiting_clients() == 2);
    all.third->drop(*all.thirds);
    BOOST_TEST(all.granted(*all.seconds, 100ms));
    BOOST_TEST(!fourths->done);
}

// The releaser's next place comes with a time of its own that is shorter.
BOOST_AUTO_TEST_CASE(the_expiry_of_a_queue_is_never_lowered) {
    hand_over_stage all{600s};
    auto& holder = all.add_ready();
    all.held = holder.acquire();
    auto const again = holder.acquire();
    BOOST_TEST_REQUIRE(all.granted(*all.held));
    asked seconds;
    asked thirds;
    all.add_waiter(seconds);
    all.add_waiter(thirds);
    auto const before = all.on().data().pttl("holdfast_queue:{lock}");
    BOOST_TEST(before > 600'000);
    // Its run is over by then.
    holder.drop(*all.held);
    all.run_for(50ms);
    BOOST_TEST(seconds->done);
    BOOST_TEST(!again->done);
    BOOST_TEST(all.waiting_clients() == 2);
    auto const passed = 100;
    BOOST_TEST(all.on().data().pttl("holdfast_queue:{lock}") >= before - passed);
}

// --- the release

BOOST_AUTO_TEST_CASE(a_release_gives_the_lock_to_the_next_client_with_two_scripts) {
    with_a_queue all;
    // Then the server knows the scripts.
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    asked next;
    all.wait_in_queue(*all.holder, next);
    int scripts = 0;
    bool was_free = false;
    all.on().on_script = [&](script_event const&) {
        ++scripts;
        was_free = was_free || all.on().data().pttl("lock") == -2;
    };
    all.second->drop(*all.seconds);
    BOOST_TEST_REQUIRE(all.granted(*all.thirds, 20ms));
    all.run_for(100ms);
    BOOST_TEST(!was_free);
    BOOST_TEST(all.waiting_clients() == 1);
    BOOST_TEST(scripts == 2);
    BOOST_TEST(all.third->client().stats().hand_overs_by.other_client == 1U);
    BOOST_TEST(!next->done);
}

BOOST_AUTO_TEST_CASE(a_client_that_is_gone_is_passed_over) {
    with_a_queue all;
    all.kill(*all.second);
    all.give_back();
    BOOST_TEST(all.granted(*all.thirds, 20ms));
    // It is told that it has the lock, not that the lock is free.
    BOOST_TEST(all.third->client().stats().hand_overs_by.other_client == 1U);
}

// A receiver that is stopped never claims the lock, and the releaser is gone.
BOOST_AUTO_TEST_CASE(the_next_client_looks_when_the_time_to_claim_is_over) {
    with_a_queue all;
    hand_over_stage::stop(*all.second);
    all.give_back();
    all.run_for(50ms);
    auto const stopped = all.holder->make_call<>();
    all.holder->run([&] { all.holder->client().shutdown(stopped->token()); });
    BOOST_TEST(all.run_until([&] { return stopped->done; }, 500ms));
    all.run_for(2'500ms);
    BOOST_TEST(!all.thirds->done);
    BOOST_TEST(all.granted(*all.thirds, 600ms));
}

// The receiver never claims the lock, and whoever was told to stand by is gone.
BOOST_AUTO_TEST_CASE(whoever_hands_over_looks_when_the_time_to_claim_is_over) {
    with_a_queue all;
    asked fourths;
    all.add_waiter(fourths);
    hand_over_stage::stop(*all.second);
    all.kill(*all.third);
    all.give_back();
    BOOST_TEST(all.granted(*fourths, 3'300ms));
    // The answer to the look may take longer than the message that it caused.
    all.run_for(100ms);
    BOOST_TEST(all.holder->client().stats().claims_lost == 1U);
}

// The place that it takes with its release is the first one then.
BOOST_AUTO_TEST_CASE(whoever_waits_again_looks_when_the_receivers_time_to_claim_is_over) {
    hand_over_stage all;
    auto& holder = all.add_ready();
    all.held = holder.acquire();
    auto const again = holder.acquire();
    BOOST_TEST_REQUIRE(all.granted(*all.held));
    all.settings().lease = 1s;
    asked seconds;
    auto& second = all.add_waiter(seconds);
    // Then its run is over.
    all.run_for(50ms);
    hand_over_stage::stop(second);
    holder.drop(*all.held);
    all.run_for(900ms);
    BOOST_TEST(!again->done);
    BOOST_TEST(all.granted(*again, 300ms));
}

// It handed the lock over twice within the time to claim it.
BOOST_AUTO_TEST_CASE(whoever_hands_over_again_looks_after_the_last_time) {
    with_a_queue all;
    all.kill(*all.third);
    asked fourths;
    auto& fourth = all.add_waiter(fourths);
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    all.second->drop(*all.seconds);
    BOOST_TEST_REQUIRE(all.granted(*fourths));
    all.wait_in_queue(*all.holder, all.held);
    fourth.drop(*fourths);
    BOOST_TEST_REQUIRE(all.granted(*all.held));
    all.run_for(1s);
    all.wait_in_queue(*all.second, all.seconds);
    all.wait_in_queue(fourth, fourths);
    auto& fifth = all.add_ready();
    asked fifths;
    all.wait_in_queue(fifth, fifths);
    hand_over_stage::stop(*all.second);
    all.kill(fourth);
    all.give_back();
    BOOST_TEST(all.granted(*fifths, 3'300ms));
}

// The registration ran once more after its waiter had gone.
BOOST_AUTO_TEST_CASE(a_client_that_no_longer_wants_the_lock_passes_it_on) {
    hand_over_stage all;
    auto& holder = all.add_holder();
    auto& gone = all.add_ready();
    // It waits for something else, so that it listens to its channel.
    auto const other = holder.acquire("other");
    BOOST_TEST_REQUIRE(all.granted(*other));
    auto const another = gone.acquire("other");
    all.run_for(50ms);
    auto const wanted = gone.acquire();
    all.run_for(0s);
    all.run_until([&] { return gone.client().stats().refusals == 3; }, 1s);
    all.on().run_twice("lock.acquire", 1s);
    BOOST_TEST_REQUIRE(all.run_until([&] { return all.waiting_clients() == 1; }, 1s));
    all.run_for(50ms);
    gone.run([&] { wanted->cancel(asio::cancellation_type::terminal); });
    all.run_for(50ms);
    BOOST_TEST_REQUIRE(all.waiting_clients() == 0);
    all.run_for(1s);
    BOOST_TEST_REQUIRE(all.waiting_clients() == 1);
    asked nexts;
    all.add_waiter(nexts);
    holder.drop(*all.held);
    BOOST_TEST(all.granted(*nexts, 100ms));
    BOOST_TEST(gone.client().stats().claims_passed_on == 1U);
}
