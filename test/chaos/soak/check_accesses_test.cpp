// What the protected resource accepted. Every rule has a history that keeps it, and one that breaks
// it.
#include "soak/check_accesses.hpp"

#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::soak;

BOOST_AUTO_TEST_CASE(a_stale_token_may_be_offered_but_not_accepted) {
    for (bool const taken : {false, true}) {
        history all;
        auto late = all.op(1, 1);
        late.invoke(1).granted(10, 5, 1010).uses(11, happening::read);
        all.span(happening::paused, 12, 1290, 1);
        all.op(2, 1).whole(1011, 1020, 6);
        late.uses(1300, happening::written, taken ? was_accepted : 0)
            .says(1301, happening::lost)
            .releasing(1302)
            .released(1303);
        if (taken) {
            breaks(all, rule::stale_access);
        } else {
            keeps_all_rules(all);
        }
        auto const found = check(all);
        BOOST_TEST(found.counts.stale_offered == 1);
        BOOST_TEST(found.counts.stale_accepted == (taken ? 1 : 0));
    }
}

BOOST_AUTO_TEST_CASE(a_lost_update_is_one_with_the_token_only) {
    for (auto const flags : {undid_without_token, undid_another}) {
        history all;
        all.op(1, 1)
            .invoke(1)
            .granted(10, 5, 1010)
            .uses(11, happening::written, was_accepted | flags)
            .releasing(20)
            .released(21);
        if (flags == undid_another) {
            breaks(all, rule::lost_update);
        } else {
            keeps_all_rules(all);
        }
        BOOST_TEST(check(all).counts.lost_updates == (flags == undid_another ? 1 : 0));
        BOOST_TEST(check(all).counts.lost_without_token == (flags == undid_another ? 0 : 1));
    }
}
