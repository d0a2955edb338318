// When something is due for each of many tenures.

#include "lease/tenure_timer.hpp"

#include "lease/tenure.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <vector>

using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::owner;
using holdfast::detail::guarded_executor;
using holdfast::detail::lease_fsm;
using holdfast::detail::lease_terms;
using holdfast::detail::tenure;
using holdfast::detail::tenure_timer;
using holdfast::test::grant;
using holdfast::test::scripted_client;

namespace {

struct world : scripted_client {
    world() {
        auto const who = owner::make();
        held_lease = grant(*this, {.who = who});
        over = held().of_owner(*on, who)->share_hold();
    }
    // The client does not look after it.
    std::shared_ptr<tenure> made() {
        return std::make_shared<tenure>(
            held(),
            over,
            holdfast::fencing_token{1},
            lease_fsm{lease_terms{}, began, began},
            began,
            guarded_executor{context.get_executor()}
        );
    }
    void set(std::shared_ptr<tenure> const& one, std::chrono::nanoseconds after) {
        on_strand([&] { timers.set(*one, began + after); });
    }
    bool called(std::vector<tenure const*> const& all) {
        return eventually([&] { return due.size() >= all.size(); }) && due == all;
    }
    void pass(std::chrono::nanoseconds how_long) {
        eventually([until = lease_clock::now() + how_long] { return lease_clock::now() > until; });
    }

    lease_clock::time_point began = lease_clock::now();
    holdfast::lease held_lease;
    std::shared_ptr<holdfast::detail::hold> over;
    std::vector<tenure const*> due;
    tenure_timer timers{*state, [this](tenure& one) { due.push_back(&one); }};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tenure_timer_test)

BOOST_AUTO_TEST_CASE(each_is_due_at_its_time_and_once) {
    world all;
    auto const second = all.made();
    auto const first = all.made();
    auto const last = all.made();
    all.set(second, 40ms);
    all.set(first, 5ms);
    all.set(last, 1h);
    BOOST_TEST(all.called({first.get()}));
    BOOST_TEST((lease_clock::now() >= all.began + 5ms));
    BOOST_TEST(all.called({first.get(), second.get()}));
    BOOST_TEST((lease_clock::now() >= all.began + 40ms));
    all.pass(20ms);
    BOOST_TEST(all.due.size() == 2U);
    all.on_strand([&] { all.timers.clear(); });
}

BOOST_AUTO_TEST_CASE(one_that_was_removed_is_not_due) {
    world all;
    auto const gone = all.made();
    auto const other = all.made();
    all.set(gone, 5ms);
    all.set(other, 10ms);
    all.on_strand([&] {
        all.timers.remove(*gone);
        all.timers.remove(*gone);
    });
    BOOST_TEST(all.called({other.get()}));
    all.set(gone, 15ms);
    all.on_strand([&] { all.timers.clear(); });
    all.pass(30ms);
    BOOST_TEST(all.due.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_new_time_takes_the_place_of_the_old_one) {
    world all;
    auto const one = all.made();
    auto const two = all.made();
    all.set(one, 5ms);
    all.set(two, 1h);
    all.set(one, 30ms);
    all.set(two, 10ms);
    BOOST_TEST(all.called({two.get(), one.get()}));
    BOOST_TEST((lease_clock::now() >= all.began + 30ms));
}

BOOST_AUTO_TEST_SUITE_END()
