// A hold that several tenures have.

#include "lease/shared_hold.hpp"

#include "unit/acquire/reading_client.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>

using holdfast::lease_state;
using holdfast::owner;
using holdfast::test::acquiring;
using holdfast::test::reading_client;
using holdfast::test::unanswered;

namespace {

struct world : reading_client {
    owner one = owner::make();
    owner two = owner::make();
    std::optional<acquiring> first;
    std::optional<acquiring> second;

    world() {
        first.emplace(*this, reader(one));
        second.emplace(*this, reader(two));
        answer(granted_reader());
    }
    auto tenure_of(owner const& who) { return held().of_owner(*read, who)->shared_from_this(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_hold_test)

BOOST_AUTO_TEST_CASE(all_are_in_doubt_without_a_connection_and_one_that_was_not_answered) {
    world all;
    all.held().renewing().hand_in(all.tenure_of(all.one));
    all.eventually([&] { return !all.server->requests.empty(); });
    all.answer(unanswered());
    BOOST_TEST(all.first->got.state() == lease_state::in_doubt);
    BOOST_TEST(all.second->got.state() == lease_state::held);
    // The hold may not be this client's any more.
    acquiring third{all, all.reader()};
    BOOST_TEST(!third.done());
    all.set_commands_up(false);
    BOOST_TEST(all.second->got.state() == lease_state::in_doubt);
}

BOOST_AUTO_TEST_SUITE_END()
