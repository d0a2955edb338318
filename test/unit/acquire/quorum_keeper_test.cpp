// Nodes that join a quorum's lease after the grant.

#include "acquire/quorum_keeper.hpp"

#include "unit/acquire/quorum_acquiring.hpp"
#include "unit/in_virtual_time.hpp"

#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::error_code;
using holdfast::lease_state;
using holdfast::detail::patience;
using holdfast::test::acquired_of;
using holdfast::test::freed;
using holdfast::test::long_terms;
using holdfast::test::quorum_acquiring;
using holdfast::test::replied;
using holdfast::test::scripted_nodes;
using holdfast::test::typed;

namespace {

std::string const attempt = "quorum_lock.acquire";

/// A lease of two nodes of three; the third was down. It is renewed every 20 ms.
struct two_of_three : scripted_nodes {
    explicit two_of_three(holdfast::detail::lease_terms how = long_terms()) {
        how.renew_after = 20ms;
        set_up(2, false);
        one.emplace(*this, patience::unlimited, 0ns, how);
        grant(0);
        grant(1);
        BOOST_TEST(one->got.nodes() == 2U);
    }
    void answer_renewals() {
        for (std::size_t i = 0; i < 2; ++i) {
            while (sent(i).starts_with("renew")) {
                answer(i, replied(1));
            }
        }
    }
    /// Until something holds; the two nodes confirm what they have.
    bool renewed_until(std::function<bool()> const& holds) {
        return eventually([&] {
            answer_renewals();
            return holds();
        });
    }
    bool asked(std::size_t i) {
        return renewed_until([&] { return sent(i) == attempt; });
    }
    /// Nothing was asked for several intervals.
    bool quiet(std::size_t i) {
        auto const end = holdfast::lease_clock::now() + 100ms;
        renewed_until([end] { return holdfast::lease_clock::now() >= end; });
        return sent(i).find(attempt) == std::string::npos;
    }

    std::optional<quorum_acquiring> one;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_keeper_test)

BOOST_AUTO_TEST_CASE(a_node_that_comes_back_is_asked_and_joins) {
    two_of_three all;
    BOOST_TEST(all.quiet(2));
    all.set_up(2, true);
    BOOST_TEST(all.asked(2));
    // The node is told the token of the lease.
    BOOST_TEST(typed(all[2].server->requests.front().what).ends_with(" 70"));
    all.grant(2, 60);
    // Those that have it are asked whether they still do.
    BOOST_TEST(all.one->got.nodes() == 2U);
    BOOST_TEST(all.sent(0).ends_with("renew"));
    BOOST_TEST(all.sent(1).ends_with("renew"));
    all.answer_renewals();
    BOOST_TEST(all.one->got.nodes() == 3U);
    // A renewal may be due by then.
    BOOST_TEST((all.sent(2).find("quorum_lock.raise_token") != std::string::npos));
    BOOST_TEST(all.quiet(0));
    BOOST_TEST(all.quiet(1));
}

// What it does not know is whether they were another holder's for a moment, one after the other.
BOOST_AUTO_TEST_CASE(a_node_that_has_lost_it_does_not_make_up_for_another_whose_answer_is_late) {
    scripted_nodes nodes;
    auto terms = long_terms();
    terms.renew_after = 20ms;
    quorum_acquiring const one{nodes, patience::unlimited, 0ns, terms};
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.grant(i);
    }
    BOOST_TEST(one.got.nodes() == 3U);
    auto const renewed = [&](std::size_t i) { return nodes.sent(i) == "renew"; };
    BOOST_TEST(nodes.eventually([&] { return renewed(0) && renewed(1) && renewed(2); }));
    nodes.answer(0, replied(0));
    BOOST_TEST(one.got.nodes() == 2U);
    BOOST_TEST(one.got.valid());
    auto const confirm_at_third = [&] {
        while (nodes.sent(2).starts_with("renew")) {
            nodes.answer(2, replied(1));
        }
    };
    BOOST_TEST(nodes.eventually([&] {
        confirm_at_third();
        if (nodes.sent(0).starts_with("release")) {
            nodes.answer(0, freed());
        }
        return nodes.sent(0) == attempt;
    }));
    nodes.grant(0, 80);
    confirm_at_third();
    BOOST_TEST(one.got.nodes() == 2U);
    BOOST_TEST(nodes.sent(1) == "renew renew");
    nodes.answer(1, replied(0));
    nodes.answer(1, replied(0));
    BOOST_TEST((one.got.state() == lease_state::lost));
    BOOST_TEST(nodes.sent(0).ends_with("release"));
    BOOST_TEST(nodes.eventually([&] { return nodes.sent(2).ends_with("release"); }));
}

BOOST_AUTO_TEST_CASE(one_that_joins_late_ends_with_the_others_at_the_limit) {
    auto terms = long_terms();
    terms.max_hold = 200ms;
    two_of_three all{terms};
    auto const granted = holdfast::lease_clock::now();
    all.set_up(2, true);
    BOOST_TEST(all.asked(2));
    all.pass(50ms);
    all.grant(2);
    all.answer_renewals();
    BOOST_TEST(all.one->got.nodes() == 3U);
    all.pass(granted + 199ms - holdfast::lease_clock::now());
    BOOST_TEST(all.one->got.nodes() == 3U);
    all.pass(1ms);
    BOOST_TEST(all.one->got.nodes() == 0U);
    BOOST_TEST((all.one->got.loss() == holdfast::loss_reason::max_hold));
}

BOOST_AUTO_TEST_CASE(one_that_refuses_is_asked_again) {
    two_of_three all;
    all.set_up(2, true);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(all.asked(2));
        all.refuse(2);
        BOOST_TEST(all.one->got.nodes() == 2U);
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_asked_without_renewal_or_with_a_number_of_renewals) {
    auto terms = long_terms();
    terms.renew = false;
    two_of_three once{terms};
    once.set_up(2, true);
    BOOST_TEST(once.quiet(2));
    terms = long_terms();
    terms.max_renewals = 5;
    two_of_three counted{terms};
    counted.set_up(2, true);
    BOOST_TEST(counted.quiet(2));
}

BOOST_AUTO_TEST_CASE(nothing_joins_after_the_release) {
    two_of_three all;
    all.set_up(2, true);
    BOOST_TEST(all.asked(2));
    all.one->got.release([](error_code) {});
    all.run();
    BOOST_TEST(all.sent(2) == attempt + " release");
    all.grant(2);
    BOOST_TEST(all.one->got.nodes() == 0U);
    BOOST_TEST(all.sent(2) == "release");
    all.answer(2, freed());
    BOOST_TEST(all.quiet(2));
}

BOOST_AUTO_TEST_CASE(nothing_joins_that_was_granted_before_the_release_and_not_confirmed) {
    two_of_three all;
    all.set_up(2, true);
    BOOST_TEST(all.asked(2));
    all.grant(2);
    all.one->got.release([](error_code) {});
    all.run();
    all.answer_renewals();
    BOOST_TEST(all.one->got.nodes() == 0U);
    BOOST_TEST(all.sent(2) == "release");
}

// Else its renewals would keep everybody from a majority until its user looks at it.
BOOST_AUTO_TEST_CASE(a_lost_lease_gives_back_the_nodes_that_it_has_left) {
    two_of_three all;
    BOOST_TEST(all.eventually([&] { return all.sent(0) == "renew" && all.sent(1) == "renew"; }));
    all.answer(0, replied(0));
    BOOST_TEST((all.one->got.state() == lease_state::lost));
    all.answer(1, replied(1));
    BOOST_TEST(all.eventually([&] { return all.sent(1).ends_with("release"); }));
    // Its client gives back what may be left there, as that of any lock that is lost.
    BOOST_TEST(all.sent(0) == "release");
    BOOST_TEST((all.one->got.state() == lease_state::lost));
    std::optional<error_code> said;
    all.one->got.release([&](error_code ec) { said = ec; });
    all.run();
    BOOST_TEST(all.sent(0) == "release");
    all.answer(0, freed());
    BOOST_TEST_REQUIRE(said.has_value());
    BOOST_TEST(*said == holdfast::errc::lease_lost);
}

namespace {

/// Three servers, and quorums of clients of their own.
struct three_servers {
    three_servers() {
        using holdfast::testing::virtual_time;
        for (int i = 0; i < 3; ++i) {
            nodes.emplace_back(virtual_time);
        }
        settings.lease = 10s;
        settings.restart_delay = 0ms;
    }
    holdfast::quorum_lock make_quorum() {
        std::vector<holdfast::lock> all;
        for (auto& node : nodes) {
            all.push_back(clients.emplace_back(context, node, settings).lock("a"));
        }
        return holdfast::quorum_lock{all};
    }

    std::deque<holdfast::testing::memory_server> nodes;
    holdfast::testing::memory_server& time() { return nodes.front(); }
    asio::io_context context;
    holdfast::config settings;
    std::deque<holdfast::client> clients;
};

}  // namespace

// An operator frees it at a majority, and another holder has it for a moment.
BOOST_AUTO_TEST_CASE(a_lease_that_a_majority_lost_between_two_renewals_is_lost_and_stays_so) {
    three_servers all;
    auto const one = all.make_quorum();
    auto const other = all.make_quorum();
    all.time().settle();
    acquired_of<holdfast::quorum_lease> kept;
    one.acquire(kept.handler());
    all.time().settle();
    BOOST_TEST_REQUIRE(kept.granted());
    all.time().advance(1s);
    BOOST_TEST(kept.got.nodes() == 3U);
    for (std::size_t i = 0; i < 2; ++i) {
        all.clients[i].lock("a").force_release([](error_code ec, bool) { BOOST_TEST(!ec); });
    }
    all.time().settle();
    BOOST_TEST(kept.got.nodes() == 3U);
    acquired_of<holdfast::quorum_lease> brief;
    other.try_acquire(brief.handler());
    all.time().settle();
    BOOST_TEST_REQUIRE(brief.granted());
    BOOST_TEST((brief.got.token() > kept.got.token()));
    auto const token = brief.got.token();
    brief.got = {};
    all.time().settle();
    all.time().advance(4s);
    BOOST_TEST((kept.got.state() == lease_state::lost));
    BOOST_TEST((kept.got.loss() == holdfast::loss_reason::deleted));
    // Nor does anything of it keep others away.
    all.time().advance(4s);
    acquired_of<holdfast::quorum_lease> next;
    other.try_acquire(next.handler());
    all.time().settle();
    BOOST_TEST_REQUIRE(next.granted());
    BOOST_TEST(next.got.nodes() == 3U);
    BOOST_TEST((next.got.token() > token));
    BOOST_TEST((kept.got.state() == lease_state::lost));
}

// Its user is told before, and may need that time to stop.
BOOST_AUTO_TEST_CASE(what_is_left_of_a_lease_that_is_lost_by_time_is_kept_until_its_deadline) {
    three_servers all;
    all.settings.loss_margin = 0.4;  // a renewal is due in that time
    auto& nodes = all.nodes;
    auto const one = all.make_quorum();
    auto const other = all.make_quorum();
    auto& time = all.time();
    time.settle();
    acquired_of<holdfast::quorum_lease> kept;
    acquired_of<holdfast::quorum_lease> waits;
    // A node that was lost is not asked again.
    one.acquire({.max_renewals = 1'000}, kept.handler());
    time.settle();
    BOOST_TEST_REQUIRE(kept.granted());
    other.acquire(waits.handler());
    nodes[0].lose_data();
    time.advance(4s);
    BOOST_TEST(kept.got.nodes() == 2U);
    nodes[1].stop();
    BOOST_TEST_REQUIRE(time.advance_until([&] { return waits.ended.has_value(); }, 1min));
    BOOST_TEST((kept.got.state() == lease_state::lost));
    BOOST_TEST((waits.at >= kept.got.deadline()));
    BOOST_TEST((waits.at < kept.got.deadline() + 10s));
}

BOOST_AUTO_TEST_CASE(a_straggler_of_the_grant_joins_or_is_withdrawn) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes};
    nodes.grant(0);
    nodes.grant(1);
    BOOST_TEST(one.got.valid());
    one.got = {};
    nodes.run();
    BOOST_TEST(nodes.sent(2) == attempt + " release");
}

BOOST_AUTO_TEST_SUITE_END()
