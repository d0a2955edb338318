// Who may re-enter: the tenure of an owner that was lost may be forgotten after the next one came.

#include "lease/owner_table.hpp"

#include "protocol/lock.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>

using holdfast::owner;
using holdfast::detail::make_lock_target;
using holdfast::detail::owner_table;
using holdfast::detail::target;
using holdfast::detail::target_key;
using holdfast::detail::tenure;

namespace {

// The table never looks into a tenure: what counts is which one it is.
class tenures {
public:
    tenure& operator[](std::size_t i) { return reinterpret_cast<tenure&>(room_[i]); }

private:
    struct alignas(std::max_align_t) place {};
    std::array<place, 2> room_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(owner_table_test)

BOOST_AUTO_TEST_CASE(a_new_grant_takes_the_place_of_one_that_was_lost) {
    owner_table all;
    tenures some;
    auto const alice = owner::make();
    auto const a = make_lock_target("", "a");
    {
        // Its target goes with it.
        auto const lost = make_lock_target("", "a");
        all.on_granted(lost, alice, some[0]);
        all.on_granted(a, alice, some[1]);
        all.on_forgotten(lost, some[0]);
    }
    BOOST_TEST((all.find(target_key{a}, alice) == &some[1]));
    all.on_forgotten(a, some[1]);
    BOOST_TEST((all.find(target_key{a}, alice) == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
