// What becomes of locks, holders and waiters when the nodes of a cluster change places.

#include "simulation/deployment.hpp"
#include "simulation/lease_stage.hpp"

#include <holdfast.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

using namespace holdfast;
using namespace holdfast::sim;

namespace {

// Two primaries with half of the slots each, and a replica of the first, which has the lock.
struct clustered : lease_stage {
    clustered() {
        auto truth = on().add_nodes();
        truth.owners[detail::slot_of("lock")] = 0;
        on().make_cluster(std::move(truth));
        settings().cluster_nodes = {{"node-0", 6379}};
        settings().lease = 1h;
        settings().fallback_poll_interval = 10min;
    }

    // They change places, and the new primary lacks so many of the last writes.
    void change_places(std::size_t behind) {
        auto& old = on().primary();
        on().promote(&old == &first() ? replica() : first(), behind);
        on().demote(old);
        on().tell(other());
    }

    machine& first() { return on().machine_at(0); }
    machine& replica() { return on().machine_at(1); }
    machine& other() { return on().machine_at(2); }
};

std::ptrdiff_t connections_to(machine const& node) {
    return std::count_if(node.links.begin(), node.links.end(), [](auto const& one) {
        return one->open();
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_waits_for_nothing_learns_that_the_primary_has_lost_its_place) {
    clustered all;
    all.settings().cluster_channels = cluster_channel_kind::plain;
    auto& one = all.add_ready();
    auto const held = all.granted_for_once(one);
    all.change_places(24);
    all.run_for(10s);
    BOOST_TEST(all.has_failed_over(one, *held));
    one.drop(*held);
}

BOOST_AUTO_TEST_CASE(a_lease_of_a_slot_that_moved_on_after_a_failover_is_asked_for) {
    clustered all;
    auto& one = all.add_ready();
    auto const held = all.granted_for_once(one);
    all.change_places(24);
    all.on().give_slot(detail::slot_of("lock"), all.other());
    all.on().tell(all.other());
    all.on().tell(all.replica());
    all.run_for(10s);
    BOOST_TEST(all.has_failed_over(one, *held));
    one.drop(*held);
}

// The lock is free there, and no message says so.
BOOST_AUTO_TEST_CASE(a_waiter_learns_of_a_failover_that_no_message_tells_it_of) {
    clustered all;
    all.settings().cluster_channels = cluster_channel_kind::plain;
    auto who = all.contend();
    who.one.of().pause();
    all.change_places(24);
    BOOST_TEST(all.run_until([&] { return who.waiting->done; }, 10s));
    who.one.of().resume();
    who.drop_both();
    BOOST_TEST(all.close_all() == "");
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_question_for_the_slots_is_refused_listens_again_all_the_same) {
    clustered all;
    auto who = all.contend();
    for (std::size_t i = 0; i < cluster_nodes; ++i) {
        all.on().machine_at(i).data.refuse_next("eval", 2, "BUSY a script runs");
        all.on().machine_at(i).data.refuse_next("evalsha", 2, "BUSY a script runs");
    }
    all.change_places(0);
    all.change_places(0);
    // It looks by itself after 5 s.
    all.run_for(2s);
    who.one.drop(*who.held);
    BOOST_TEST(all.run_until([&] { return who.waiting->done; }, 2s));
    who.two.drop(*who.waiting);
    BOOST_TEST(all.close_all() == "");
}

// It says so when it is connected to again.
BOOST_AUTO_TEST_CASE(a_node_that_has_not_heard_of_a_failover_does_not_lead_back_to_who_is_gone) {
    clustered all;
    all.settings().cluster_nodes.push_back({"node-2", 6379});
    auto& one = all.add_ready();
    one.drop(*all.granted(one));
    all.on().promote(all.replica(), 0);
    all.on().demote(all.first());
    one.drop(*all.granted(one));
    all.on().kill(all.first());
    all.run_for(5s);
    all.on().start(all.other(), true);
    all.run_for(5s);
    one.drop(*all.granted(one));
    BOOST_TEST(all.close_all() == "");
}

// It has connected to the successor by then, and no time-out of its own has passed.
BOOST_AUTO_TEST_CASE(what_a_former_primary_never_answered_is_asked_of_its_successor_at_once) {
    clustered all;
    all.settings().cluster_nodes.push_back({"node-2", 6379});
    all.settings().request_timeout = 1min;
    auto& one = all.add_ready();
    auto const held = all.granted(one);
    all.on().pause(all.first());
    one.run([&] { all.held_by(*held).renew([](error_code) {}); });
    all.run_for(1s);
    all.on().promote(all.replica(), 0);
    all.on().tell(all.other());
    auto const renewed = [&] { return one.client().stats().renewals != 0; };
    BOOST_TEST(all.run_until(renewed, 5s));
    BOOST_TEST((all.state_of(one, *held) == lease_state::held));
    one.drop(*held);
    BOOST_TEST(all.close_all() == "");
}

// It answers as if it had the slot. It is left then, and not when unused connections are looked
// for, twice a minute.
BOOST_AUTO_TEST_CASE(a_node_that_was_busy_when_it_lost_its_last_slot_is_left_soon) {
    clustered all;
    all.settings().cluster_nodes.push_back({"node-2", 6379});
    all.settings().request_timeout = 1min;
    auto const last = detail::slot_of("lock");
    for (std::uint16_t slot = 0; slot < detail::slot_count; ++slot) {
        if (slot != last) {
            all.on().give_slot(slot, all.other());
        }
    }
    all.on().tell(all.first());
    all.on().tell(all.other());
    auto& one = all.add_ready();
    auto const held = all.granted(one);
    all.on().pause(all.first());
    one.run([&] { all.held_by(*held).renew([](error_code) {}); });
    all.run_for(100ms);
    all.on().give_slot(last, all.other());
    all.on().tell(all.other());
    all.run_for(900ms);
    BOOST_TEST(connections_to(all.first()) != 0);
    all.on().resume(all.first());
    BOOST_TEST(all.run_until([&] { return connections_to(all.first()) == 0; }, 2s));
    one.drop(*held);
    BOOST_TEST(all.close_all() == "");
}

// The node is away for longer than an unused connection is kept.
BOOST_AUTO_TEST_CASE(who_waits_for_a_node_that_is_away_for_long_has_the_lock_when_it_is_back) {
    clustered all;
    auto& one = all.add_ready();
    one.drop(*all.granted(one));
    // Otherwise it is the last one, and is kept.
    auto const elsewhere = one.acquire("foo");
    BOOST_TEST(all.run_until([&] { return elsewhere->done; }, 10s));
    all.on().kill(all.first());
    auto const waiting = one.acquire();
    all.run_for(3min);
    BOOST_TEST(!waiting->done);
    all.on().start(all.first(), true);
    BOOST_TEST(all.run_until([&] { return waiting->done; }, 10s));
    one.drop(*waiting);
    one.drop(*elsewhere);
    BOOST_TEST(all.close_all() == "");
}

BOOST_AUTO_TEST_CASE(
    who_waits_for_a_slot_that_nobody_has_for_a_while_has_the_lock_when_somebody_has_it
) {
    clustered all;
    auto& one = all.add_ready();
    auto const elsewhere = one.acquire("foo");
    BOOST_TEST(all.run_until([&] { return elsewhere->done; }, 10s));
    one.drop(*all.granted(one));
    all.on().kill(all.first());
    auto const waiting = one.acquire();
    memory::cluster_view without{{{"node-0", 6379}, {"node-1", 6379, 0}, {"node-2", 6379}}, 2};
    std::fill_n(without.owners.rbegin(), detail::slot_count / 2, std::uint8_t{2});
    without.owners[detail::slot_of("lock")] = memory::cluster_view::nobody;
    all.other().data.set_cluster(without);
    all.run_for(1min);
    BOOST_TEST(!waiting->done);
    all.on().start(all.first(), true);
    all.on().tell(all.other());
    BOOST_TEST(all.run_until([&] { return waiting->done; }, 10s));
    one.drop(*waiting);
    one.drop(*elsewhere);
    BOOST_TEST(all.close_all() == "");
}
