// Nodes that join a quorum's lease after the grant.

#include "acquire/quorum_keeper.hpp"

#include "unit/acquire/quorum_acquiring.hpp"
#include "unit/in_virtual_time.hpp"

#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <optional>
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

/// A lease of two nodes of three; the third was down. It is looked at every 20 ms.
struct two_of_three : scripted_nodes {
    explicit two_of_three(holdfast::detail::lease_terms how = long_terms()) {
        how.renew_after = 20ms;
        set_up(2, false);
        one.emplace(*this, patience::unlimited, 0ns, how);
        grant(0);
        grant(1);
        BOOST_TEST(one->got.nodes() == 2U);
    }
    /// Nothing was asked for several intervals. The renewals are answered.
    bool quiet(std::size_t i) {
        pass(100ms);
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
    BOOST_TEST(all.eventually([&] { return all.sent(2) == attempt; }));
    // The node is told the token of the lease.
    BOOST_TEST(typed(all[2].server->requests.front().what).ends_with(" 70"));
    all.grant(2, 60);
    BOOST_TEST(all.one->got.nodes() == 3U);
    // A renewal may be due by then.
    BOOST_TEST((all.sent(2).find("quorum_lock.raise_token") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(one_that_joins_late_ends_with_the_others_at_the_limit) {
    auto terms = long_terms();
    terms.max_hold = 200ms;
    two_of_three all{terms};
    auto const granted = holdfast::lease_clock::now();
    all.set_up(2, true);
    BOOST_TEST(all.eventually([&] { return all.sent(2) == attempt; }));
    all.pass(50ms);
    all.grant(2);
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
        BOOST_TEST(all.eventually([&] { return all.sent(2) == attempt; }));
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
    BOOST_TEST(all.eventually([&] { return all.sent(2) == attempt; }));
    all.one->got.release([](error_code) {});
    all.run();
    BOOST_TEST(all.sent(2) == attempt + " release");
    all.grant(2);
    BOOST_TEST(all.one->got.nodes() == 0U);
    BOOST_TEST(all.sent(2) == "release");
    all.answer(2, freed());
    BOOST_TEST(all.quiet(2));
}

// Else its renewals would keep everybody from a majority until its user looks at it.
BOOST_AUTO_TEST_CASE(a_lost_lease_gives_back_the_nodes_that_it_has_left) {
    two_of_three all;
    BOOST_TEST(all.eventually([&] { return all.sent(0) == "renew" && all.sent(1) == "renew"; }));
    all.answer(0, replied(0));
    BOOST_TEST((all.one->got.state() == lease_state::lost));
    all.answer(1, replied(1));
    BOOST_TEST(all.eventually([&] { return all.sent(1).ends_with("release"); }));
    BOOST_TEST(all.sent(0).empty());
    BOOST_TEST((all.one->got.state() == lease_state::lost));
    std::optional<error_code> said;
    all.one->got.release([&](error_code ec) { said = ec; });
    all.run();
    BOOST_TEST(all.sent(0) == "release");
    all.answer(0, freed());
    BOOST_TEST_REQUIRE(said.has_value());
    BOOST_TEST(*said == holdfast::errc::lease_lost);
}

// Its user is told before, and may need that time to stop.
BOOST_AUTO_TEST_CASE(what_is_left_of_a_lease_that_is_lost_by_time_is_kept_until_its_deadline) {
    using holdfast::testing::virtual_time;
    std::deque<holdfast::testing::memory_server> nodes;
    for (int i = 0; i < 3; ++i) {
        nodes.emplace_back(virtual_time);
    }
    asio::io_context context;
    holdfast::config settings;
    settings.lease = 10s;
    settings.restart_delay = 0ms;
    std::deque<holdfast::client> clients;
    auto const make_quorum = [&] {
        std::vector<holdfast::lock> all;
        for (auto& node : nodes) {
            all.push_back(clients.emplace_back(context, node, settings).lock("a"));
        }
        return holdfast::quorum_lock{all};
    };
    auto const one = make_quorum();
    auto const other = make_quorum();
    auto& time = nodes.front();
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
