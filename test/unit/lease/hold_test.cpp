// What the server knows of a grant: how it is renewed, and what each answer to a renewal means.

#include "lease/hold.hpp"

#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::hold;
using holdfast::detail::lease_for;
using holdfast::detail::lease_terms;
using holdfast::test::failed;
using holdfast::test::grant;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::typed;
using holdfast::test::unanswered;

namespace {

struct world : scripted_client {
    std::optional<owner> who = owner::make();
    holdfast::lease lease = grant(*this, {.sent_ago = 1h - 1min, .who = who});
    hold& held_one = held().of_owner(*on, who)->over();
    std::optional<error_code> told;

    // Sends a renewal, and answers it.
    void renew(exec_result const& result) {
        held_one.renew(held_one.current(), [this](error_code ec) { told = ec; });
        run();
        answer(result);
    }
};

exec_result confirmed() {
    return replied(1);
}

std::chrono::milliseconds asked_for(holdfast::detail::call const& renewal) {
    return std::chrono::milliseconds{std::stoll(std::string{renewal.word(renewal.keys())})};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hold_test)

BOOST_AUTO_TEST_CASE(a_renewal_that_was_not_confirmed_is_doubt) {
    struct {
        exec_result result;
        errc cause;
    } const table[] = {
        {unanswered(), errc::unreachable},
        {failed(errc::server_refused, exec_status::refused), errc::server_refused},
        {failed(errc::no_permission), errc::no_permission},
        {failed({}, exec_status::not_sent), errc::unreachable},
    };
    for (auto const& row : table) {
        world all;
        auto const before = all.lease.deadline();
        all.renew(row.result);
        BOOST_TEST((all.told == row.cause));
        BOOST_TEST(all.lease.state() == lease_state::in_doubt);
        BOOST_TEST((all.lease.deadline() == before));
        BOOST_TEST(all.count().failed_renewals == 1U);
    }
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_gone_on_another_server_has_failed_over) {
    world all;
    all.reconnect_to("a");
    // Which server it was before is not known.
    all.renew(replied(0, 0));
    BOOST_TEST(all.lease.loss() == loss_reason::deleted);

    struct {
        exec_result answer;
        loss_reason reason;
    } const table[] = {
        {replied(0, 0), loss_reason::failed_over},
        // Somebody else has it there.
        {replied(0, 1), loss_reason::taken},
    };
    for (auto const& row : table) {
        world other;
        other.reconnect_to("a");
        other.renew(confirmed());
        other.reconnect_to("b");
        BOOST_TEST(other.lease.state() == lease_state::in_doubt);
        BOOST_TEST(other.lease.valid());
        BOOST_TEST(other.eventually([&] { return other.sent() == "renew"; }));
        other.answer(row.answer);
        BOOST_TEST(other.lease.loss() == row.reason);
        BOOST_TEST((other.lease.remaining() == 0ns));
    }
}

BOOST_AUTO_TEST_CASE(once_the_other_server_has_confirmed_it_a_lock_that_is_gone_was_deleted) {
    world all;
    all.reconnect_to("a");
    all.renew(confirmed());
    all.reconnect_to("b");
    BOOST_TEST(all.eventually([&] { return all.sent() == "renew"; }));
    all.answer(confirmed());
    BOOST_TEST(all.lease.state() == lease_state::held);
    all.renew(replied(0, 0));
    BOOST_TEST(all.lease.loss() == loss_reason::deleted);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_not_renewed_is_looked_for_on_another_server) {
    for (bool const there : {true, false}) {
        scripted_client all;
        all.reconnect_to("a");
        auto const lease = grant(all, {.renew = false});
        auto const deadline = lease.deadline();
        auto const before = lease_clock::now();
        all.reconnect_to("b");
        BOOST_TEST(lease.state() == lease_state::in_doubt);
        // It may have lost an extension: the lease is to last there as long as is believed here.
        auto const& asked = all.server->requests.at(0).what;
        BOOST_TEST(typed(asked).starts_with("lock.renew 1 a "));
        auto const wanted = asked_for(asked);
        BOOST_TEST((wanted >= lease_for({}, deadline - lease_clock::now())));
        BOOST_TEST((wanted <= lease_for({}, deadline - before)));
        all.answer(there ? confirmed() : replied(0, 0));
        BOOST_TEST(lease.state() == (there ? lease_state::held : lease_state::lost));
        BOOST_TEST((lease.loss() == (there ? loss_reason::none : loss_reason::failed_over)));
        BOOST_TEST((there ? lease.deadline() == deadline : lease.deadline() < deadline));
        // The same server again needs no question.
        all.reconnect_to("b");
        BOOST_TEST(all.sent() == "");
    }
}

// Its answer, too, may be the first that says that the lock is ours there.
BOOST_AUTO_TEST_CASE(who_takes_tokens_on_another_server_asks_for_what_is_believed_to_be_left) {
    world all;
    auto const take = [&](lease_terms const& terms) {
        all.on_strand([&] {
            all.held_one.refill(terms, false, {.count = 1, .queued = false}, [](error_code) {});
        });
        return std::exchange(all.server->requests, {}).back().what;
    };
    BOOST_TEST((asked_for(take({})) == 0ms));
    all.reconnect_to("a");
    all.renew(confirmed());
    all.reconnect_to("b");
    auto const least = lease_for({}, all.lease.remaining()) - 10s;
    BOOST_TEST((asked_for(take({})) >= least));
    // A usual hold might make it shorter.
    auto const learned = take({.learned = true});
    BOOST_TEST((asked_for(learned) >= least));
    BOOST_TEST(learned.keys() == take({}).keys());
}

BOOST_AUTO_TEST_CASE(what_was_not_answered_is_asked_on_the_next_connection) {
    scripted_client all;
    all.reconnect_to("a");
    auto const lease = grant(all, {.renew = false});
    all.reconnect_to("b");
    all.answer(unanswered());
    BOOST_TEST(lease.state() == lease_state::in_doubt);
    all.reconnect_to("b");
    BOOST_TEST(lease.state() == lease_state::in_doubt);
    BOOST_TEST(all.sent() == "renew");
    all.answer(confirmed());
    BOOST_TEST(lease.state() == lease_state::held);
}

// Replicas

namespace {

holdfast::config with_replicas() {
    holdfast::config settings;
    settings.replicas.count = 1;
    return settings;
}

struct replicated_world : scripted_client {
    replicated_world() : scripted_client{with_replicas()} {}

    std::optional<owner> who = owner::make();
    holdfast::lease lease = grant(*this, {.sent_ago = 1h - 1min, .who = who});
    hold& held_one = held().of_owner(*on, who)->over();
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_renewal_that_replicas_do_not_have_is_doubt) {
    replicated_world all;
    std::optional<error_code> told;
    auto const renew = [&](exec_result const& result) {
        all.held_one.renew(all.held_one.current(), [&](error_code ec) { told = ec; });
        all.run();
        BOOST_TEST(all.server->requests.at(0).replicas == 1U);
        all.answer(result);
    };
    auto const before = all.lease.deadline();
    renew(confirmed());
    BOOST_TEST((told == errc::not_replicated));
    BOOST_TEST(all.lease.state() == lease_state::in_doubt);
    BOOST_TEST((all.lease.deadline() == before));
    all.server->replicas = 1;
    renew(confirmed());
    BOOST_TEST((told == error_code{}));
    BOOST_TEST(all.lease.state() == lease_state::held);
    BOOST_TEST((all.lease.deadline() > before));
    // That it is lost needs no replica to say so.
    all.server->replicas = 0;
    renew(replied(0, 1));
    BOOST_TEST((told == errc::lease_lost));
    BOOST_TEST(all.lease.loss() == loss_reason::taken);
}

BOOST_AUTO_TEST_CASE(tokens_that_replicas_do_not_have_are_not_given_out) {
    replicated_world all;
    auto const refill = [&](std::uint64_t token) {
        all.on_strand([&] {
            all.held_one.refill({}, false, {.count = 1, .queued = false}, [](error_code) {});
        });
        BOOST_TEST(all.server->requests.at(0).replicas == 1U);
        all.answer(replied(1, token, 0, 0));
        auto const next = all.held_one.fsm().next({}, true, lease_clock::now());
        return next == holdfast::detail::hold_fsm::step::hand_over;
    };
    BOOST_TEST(!refill(20));
    all.server->replicas = 1;
    BOOST_TEST(refill(30));
    BOOST_TEST((all.held_one.fsm().take_token() == holdfast::fencing_token{30}));
}

BOOST_AUTO_TEST_SUITE_END()
