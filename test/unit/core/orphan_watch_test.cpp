// When a lock without an expiry may be taken over: after it was seen unchanged for long enough.

#include "core/orphan_watch.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::detail::nanos;
using holdfast::detail::orphan;
using holdfast::detail::orphan_watch;
using holdfast::detail::time_point;

namespace {

constexpr time_point start{1'000s};
orphan const one{"tool:1", "1"};

}  // namespace

BOOST_AUTO_TEST_SUITE(orphan_watch_test)

BOOST_AUTO_TEST_CASE(nothing_is_due_that_was_not_seen) {
    orphan_watch watch;
    BOOST_TEST((watch.due(1s) == time_point::max()));
    BOOST_TEST(!watch.take(1s, start).has_value());
}

BOOST_AUTO_TEST_CASE(it_is_due_a_while_after_the_first_look) {
    orphan_watch watch;
    watch.on_seen(one, start);
    watch.on_seen(one, start + 900ms);
    BOOST_TEST((watch.due(1s) == start + 1s));
    BOOST_TEST(!watch.take(1s, start + 1s - 1ns).has_value());
    BOOST_TEST((watch.take(1s, start + 1s) == one));
}

BOOST_AUTO_TEST_CASE(whoever_does_not_ask_for_it_waits) {
    orphan_watch watch;
    watch.on_seen(one, start);
    BOOST_TEST((watch.due(0s) == time_point::max()));
    BOOST_TEST(!watch.take(0s, start + 24h).has_value());
    BOOST_TEST((watch.due(nanos::max()) == time_point::max()));
}

BOOST_AUTO_TEST_CASE(any_change_starts_the_time_again) {
    for (auto const& other : {orphan{"tool:2", "1"}, orphan{"tool:1", "2"}}) {
        orphan_watch watch;
        watch.on_seen(one, start);
        watch.on_seen(other, start + 900ms);
        BOOST_TEST((watch.due(1s) == start + 1'900ms));
        watch.on_seen(one, start + 1'800ms);
        BOOST_TEST((watch.due(1s) == start + 2'800ms));
    }
}

BOOST_AUTO_TEST_CASE(an_expiry_starts_the_time_again) {
    orphan_watch watch;
    watch.on_seen(one, start);
    watch.on_seen({}, start + 900ms);
    BOOST_TEST((watch.due(1s) == time_point::max()));
    watch.on_seen(one, start + 1s);
    BOOST_TEST((watch.due(1s) == start + 2s));
}

BOOST_AUTO_TEST_CASE(a_try_that_failed_is_not_repeated_at_once) {
    orphan_watch watch;
    watch.on_seen(one, start);
    BOOST_TEST(watch.take(1s, start + 1s).has_value());
    BOOST_TEST(!watch.take(1s, start + 1s).has_value());
    watch.on_seen(one, start + 2s);
    BOOST_TEST((watch.due(1s) == start + 3s));
}

BOOST_AUTO_TEST_SUITE_END()
