// One server of a quorum: when it counts, what it is asked, and where the answers arrive.

#include "acquire/quorum_node.hpp"

#include "unit/acquire/quorum_acquiring.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::lease_clock;
using holdfast::detail::ballot;
using holdfast::detail::quorum_node;
using holdfast::test::long_terms;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::scripted_nodes;
using holdfast::test::typed;

namespace {

quorum_node node_of(scripted_client& client) {
    return {client.state, &client.state->acquires(), client.on, long_terms()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_node_test)

BOOST_AUTO_TEST_CASE(a_server_counts_once_what_it_may_have_forgotten_has_ended) {
    config settings;
    settings.lease = 30s;
    for (auto const delay : {std::optional<std::chrono::milliseconds>{}, {30s}, {1h}, {0ms}}) {
        settings.restart_delay = delay;
        scripted_client client{settings};
        auto const node = node_of(client);
        auto const now = lease_clock::now();
        BOOST_TEST(!node.counts(now));
        BOOST_TEST((node.why_not() == errc::unreachable));
        client.server->began_by = now - 30s;
        client.set_commands_up(true);
        BOOST_TEST(node.counts(now) == (delay != 1h));
        BOOST_TEST(node.counts(now - 1ms) == (delay == 0ms));
        BOOST_TEST((node.why_not() == errc::quorum_not_reached));
        client.set_commands_up(false);
        BOOST_TEST(!node.counts(now));
        client.fail(errc::auth_failed);
        BOOST_TEST((node.why_not() == errc::auth_failed));
    }
}

// Its uptime follows the wall clock, which may step an hour ahead while the machine starts.
BOOST_AUTO_TEST_CASE(a_client_that_knew_the_former_process_counts_from_when_it_saw_the_new_one) {
    config settings;
    settings.lease = 30s;
    scripted_client client{settings};
    auto const node = node_of(client);
    client.server->run_id = "first";
    client.server->began_by = lease_clock::now() - 1h;
    client.set_commands_up(true);
    BOOST_TEST(node.counts(lease_clock::now()));
    client.pass(1s);
    client.reconnect_to("second");
    auto const seen = lease_clock::now();
    BOOST_TEST(!node.counts(seen));
    BOOST_TEST(!node.counts(seen + 30s - 1ms));
    BOOST_TEST(node.counts(seen + 30s));
    // Another connection to the same process changes nothing.
    client.pass(20s);
    client.reconnect_to("second");
    BOOST_TEST(!node.counts(seen + 30s - 1ms));
    BOOST_TEST(node.counts(seen + 30s));
    // The uptime counts where it says that the process began later.
    client.server->began_by = lease_clock::now() + 5s;
    client.reconnect_to("third");
    BOOST_TEST(!node.counts(lease_clock::now() + 35s - 1ms));
    BOOST_TEST(node.counts(lease_clock::now() + 35s));
}

BOOST_AUTO_TEST_CASE(a_client_that_did_not_know_the_former_process_has_the_uptime) {
    config settings;
    settings.lease = 30s;
    scripted_client client{settings};
    client.server->run_id = "second";
    client.server->began_by = lease_clock::now() - 1h;
    client.set_commands_up(true);
    BOOST_TEST(node_of(client).counts(lease_clock::now()));
}

BOOST_AUTO_TEST_CASE(it_is_asked_once_and_answers_with_what_it_said) {
    scripted_nodes nodes{2};
    auto const node = nodes.nodes(long_terms()).at(1);
    auto const vote = std::make_shared<ballot>(ballot{{17}});
    std::optional<holdfast::owner> const nobody;
    holdfast::detail::guarded_executor const holder{nodes.lead().context.get_executor()};
    auto const terms = long_terms();
    lease got;
    error_code ec = errc::unreachable;
    nodes.lead().on_strand([&] {
        auto const asked = node.ask(
            {terms, nobody, holder, vote},
            *nodes.lead().state,
            [&](error_code how, lease given) {
                ec = how;
                got = std::move(given);
            }
        );
        BOOST_TEST(!asked.expired());
    });
    nodes.run();
    BOOST_TEST(typed(nodes[1].server->requests.front().what).ends_with(" 17"));
    nodes.answer(1, replied(1, 17, 1'000));
    BOOST_TEST(!ec);
    BOOST_TEST(got.valid());
    BOOST_REQUIRE(vote->reply);
    BOOST_TEST(vote->reply->server_time == 1'000U);

    bool raised = false;
    nodes.lead().on_strand([&] {
        node.raise(got, {99}, nodes.lead().state, [&](bool done) { raised = done; });
    });
    nodes.run();
    BOOST_TEST(nodes.sent(1) == "quorum_lock.raise_token");
    nodes.answer(1, replied(1));
    BOOST_TEST(raised);
}

BOOST_AUTO_TEST_CASE(what_is_not_wanted_any_more_is_withdrawn) {
    scripted_nodes nodes{2};
    auto const node = nodes.nodes(long_terms()).at(1);
    std::optional<holdfast::owner> const nobody;
    holdfast::detail::guarded_executor const holder{nodes.lead().context.get_executor()};
    auto const terms = long_terms();
    std::weak_ptr<holdfast::detail::acquire_op> asked;
    nodes.lead().on_strand([&] {
        asked = node.ask(
            {terms, nobody, holder, std::make_shared<ballot>()},
            *nodes.lead().state,
            [](error_code, lease) {}
        );
    });
    nodes.run();
    nodes.lead().on_strand([&] { node.cancel(asked, asio::cancellation_type::terminal); });
    nodes.run();
    BOOST_TEST(nodes.sent(1) == "quorum_lock.acquire release");
    node.cancel({}, asio::cancellation_type::terminal);
}

BOOST_AUTO_TEST_SUITE_END()
