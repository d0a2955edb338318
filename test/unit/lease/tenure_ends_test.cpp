// Leases that end by themselves while their hold goes on.

#include "lease/tenure_ends.hpp"

#include "lease/tenure.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <vector>

using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::owner;
using holdfast::detail::tenure;
using holdfast::detail::tenure_ends;
using holdfast::test::grant;
using holdfast::test::scripted_client;

namespace {

struct world : scripted_client {
    // Over after that time.
    std::shared_ptr<tenure> granted(std::chrono::nanoseconds left) {
        auto const who = owner::make();
        leases.push_back(grant(*this, {.sent_ago = 24h - 1min - left, .who = who}));
        return held().of_owner(*on, who)->shared_from_this();
    }
    ~world() {
        on_strand([this] { ends.clear(); });
    }

    std::vector<holdfast::lease> leases;
    int over = 0;
    tenure_ends ends{*state, [this](tenure&) { ++over; }};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tenure_ends_test)

BOOST_AUTO_TEST_CASE(each_is_told_of_when_its_deadline_has_come) {
    world all;
    auto const second = all.granted(40ms);
    auto const first = all.granted(5ms);
    auto const last = all.granted(1h);
    all.on_strand([&] {
        all.ends.watch(second);
        all.ends.watch(first);
        all.ends.watch(last);
    });
    BOOST_TEST(all.eventually([&] { return all.over == 1; }));
    BOOST_TEST((lease_clock::now() >= first->deadline()));
    BOOST_TEST(all.eventually([&] { return all.over == 2; }));
    BOOST_TEST((lease_clock::now() >= second->deadline()));
}

BOOST_AUTO_TEST_CASE(nobody_is_told_of_one_that_has_gone) {
    world all;
    {
        auto const gone = all.granted(5ms);
        all.on_strand([&] { all.ends.watch(gone); });
        all.leases.clear();
        all.run();
        all.answer(holdfast::test::freed());
    }
    BOOST_TEST(all.eventually([&, began = lease_clock::now()] {
        return lease_clock::now() > began + 30ms;
    }));
    BOOST_TEST(all.over == 0);
}

BOOST_AUTO_TEST_SUITE_END()
