// Who may re-enter: the tenure of an owner is found by what it locks and by whom, until it is given
// back.

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
    std::array<place, 3> room_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(owner_table_test)

BOOST_AUTO_TEST_CASE(what_an_owner_has_is_found_until_it_is_forgotten) {
    owner_table all;
    tenures some;
    auto const alice = owner::make();
    auto const bob = owner::make();
    target const a = make_lock_target("", "a");
    target const b = make_lock_target("", "b");
    all.on_granted(a, alice, some[0]);
    all.on_granted(b, alice, some[1]);
    all.on_granted(a, bob, some[2]);
    // Any object that names the lock will do.
    BOOST_TEST((all.find(target_key{make_lock_target("", "a")}, alice) == &some[0]));
    BOOST_TEST((all.find(target_key{b}, alice) == &some[1]));
    BOOST_TEST((all.find(target_key{a}, bob) == &some[2]));
    BOOST_TEST((all.find(target_key{b}, bob) == nullptr));
    all.on_forgotten(a, some[0]);
    BOOST_TEST((all.find(target_key{a}, alice) == nullptr));
    BOOST_TEST((all.find(target_key{b}, alice) == &some[1]));
}

BOOST_AUTO_TEST_CASE(a_grant_without_an_owner_is_not_kept) {
    owner_table all;
    tenures some;
    target const a = make_lock_target("", "a");
    all.on_granted(a, {}, some[0]);
    BOOST_TEST((all.find(target_key{a}, owner::make()) == nullptr));
    all.on_forgotten(a, some[0]);
}

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

BOOST_AUTO_TEST_CASE(it_can_be_cleared) {
    owner_table all;
    tenures some;
    auto const alice = owner::make();
    auto const a = make_lock_target("", "a");
    all.on_granted(a, alice, some[0]);
    all.clear();
    BOOST_TEST((all.find(target_key{a}, alice) == nullptr));
    all.on_forgotten(a, some[0]);
}

BOOST_AUTO_TEST_SUITE_END()
