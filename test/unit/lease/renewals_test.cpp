// Renewals that are due together leave together, and what is said of one is told to that one only.

#include "lease/renewals.hpp"

#include "lease/hold.hpp"
#include "lease/tenure.hpp"
#include "protocol/primitive.hpp"
#include "unit/acquire/handing_client.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::lease;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::hold;
using holdfast::detail::make_lock_target;
using holdfast::detail::target;
using holdfast::detail::tenure;
using holdfast::test::acquiring;
using holdfast::test::failed;
using holdfast::test::grant;
using holdfast::test::granted;
using holdfast::test::handing_client;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

struct world : scripted_client {
    using scripted_client::scripted_client;

    asio::io_context holder;
    std::vector<lease> leases;

    // Due when the holder runs.
    void add_due(std::size_t count, std::chrono::nanoseconds request_timeout = 3s) {
        for (std::size_t i = 0; i < count; ++i) {
            auto const name = "l" + std::to_string(leases.size());
            leases.push_back(grant(
                *this,
                {.sent_ago = 2h,
                 .request_timeout = request_timeout,
                 .holder = holder.get_executor(),
                 .on = std::make_shared<target const>(make_lock_target("", name))}
            ));
        }
    }
    void add_idle(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            leases.push_back(grant(*this));
        }
    }
    void run_holder() {
        holdfast::test::run_ready(holder);
        run();
    }
    holdfast::detail::call const& oldest() const { return server->requests.at(0).what; }
    std::size_t number_in(lease_state wanted) const {
        std::size_t count = 0;
        for (auto const& one : leases) {
            count += one.state() == wanted ? 1 : 0;
        }
        return count;
    }
};

// The renewal of a lock that went to the next local holder meanwhile; the other lock stayed.
struct passed_on : handing_client {
    std::optional<owner> who = owner::make();
    std::shared_ptr<target const> other = std::make_shared<target const>(make_lock_target("", "o"));
    acquiring first{*this, {.who = who}};
    acquiring second{*this};
    std::optional<acquiring> third;
    std::shared_ptr<hold> held_one;
    holdfast::detail::time_point deadline;

    passed_on() {
        answer(granted(100));
        answer(replied(1, 101, 0, 0));
        third.emplace(*this, holdfast::test::acquiring_options{.who = who, .on = other});
        answer(granted(7));
        auto const of_first = held().of_owner(*on, who)->shared_from_this();
        held_one = of_first->share_hold();
        held().renewing().hand_in(of_first);
        held().renewing().hand_in(held().of_owner(*other, who)->shared_from_this());
        run();
        BOOST_TEST(sent() == "renew_many");
        first.got = {};
        run();
        BOOST_REQUIRE(second.got.valid());
        deadline = second.got.deadline();
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(renewals_test)

BOOST_AUTO_TEST_CASE(leases_that_are_due_together_are_renewed_by_one_script) {
    world all;
    all.add_due(1, 2s);
    all.add_due(1, 4s);
    BOOST_TEST(all.sent().empty());
    auto const before = lease_clock::now();
    all.run_holder();
    BOOST_TEST(all.sent() == "renew_many");
    BOOST_TEST(all.oldest().keys() == 2U);
    BOOST_TEST(all.oldest().word(0) == "l0");
    BOOST_TEST(all.oldest().word(1) == "l1");
    BOOST_TEST(all.oldest().word(2) == "86400000");
    BOOST_TEST(all.oldest().word(4) == "86400000");
    BOOST_TEST(all.oldest().word(3) != all.oldest().word(5));
    BOOST_TEST(all.oldest().size() == 6U);
    // No member waits longer than by itself.
    BOOST_TEST((all.oldest().timeout() == 2s));
    all.answer(replied("11"));
    BOOST_TEST(all.count().renewals == 2U);
    for (auto const& one : all.leases) {
        BOOST_TEST(one.state() == lease_state::held);
        BOOST_TEST((one.deadline() >= before + 24h - 1min));
    }
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(the_deadline_counts_from_the_sending) {
    world all;
    all.add_due(2);
    all.run_holder();
    auto const sent_by = lease_clock::now();
    all.pass(5ms);
    all.answer(replied("11"));
    for (auto const& one : all.leases) {
        BOOST_TEST((one.deadline() <= sent_by + 24h - 1min));
    }
}

BOOST_AUTO_TEST_CASE(one_that_has_no_company_waits_a_moment_and_is_renewed_by_itself) {
    world all;
    all.add_idle(1);
    all.add_due(1);
    all.run_holder();
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(all.eventually([&] { return !all.sent().empty(); }));
    BOOST_TEST(all.sent() == "renew");
    BOOST_TEST(all.oldest().word(0) == "l1");
}

BOOST_AUTO_TEST_CASE(a_script_renews_a_hundred_at_most) {
    world all;
    all.add_due(250);
    all.run_holder();
    BOOST_TEST(all.sent() == "renew_many renew_many renew_many");
    for (std::size_t const keys : {100U, 100U, 50U}) {
        BOOST_TEST(all.oldest().keys() == keys);
        all.answer(replied(std::string(keys, '1')));
    }
    BOOST_TEST(all.count().renewals == 250U);
    BOOST_TEST(all.number_in(lease_state::held) == 250U);
}

BOOST_AUTO_TEST_CASE(each_lease_is_told_what_was_said_of_it) {
    world all;
    all.add_due(5);
    all.run_holder();
    all.answer(replied("10219"));
    BOOST_TEST(all.leases[0].state() == lease_state::held);
    BOOST_TEST(all.leases[1].loss() == loss_reason::deleted);
    BOOST_TEST(all.leases[2].loss() == loss_reason::taken);
    BOOST_TEST(all.leases[3].state() == lease_state::held);
    BOOST_TEST(all.count().renewals == 2U);
    BOOST_TEST(all.count().failed_renewals == 0U);
    // Why the last one failed is said when it is alone.
    BOOST_TEST(all.sent() == "renew");
    BOOST_TEST(all.oldest().word(0) == "l4");
    all.answer(failed(errc::corrupt_state));
    BOOST_TEST(all.leases[4].loss() == loss_reason::deleted);
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(renewals_that_are_refused_together_are_sent_one_by_one) {
    exec_result const table[] = {
        failed(errc::no_permission),
        failed(errc::unsupported_server),
        // An error that is not known, of a proxy perhaps.
        failed(errc::server_refused, exec_status::unknown),
    };
    for (auto const& refusal : table) {
        world all;
        all.add_due(3);
        all.run_holder();
        all.answer(refusal);
        BOOST_TEST(all.sent() == "renew renew renew");
        BOOST_TEST(all.count().failed_renewals == 0U);
        all.answer(replied(1));
        all.answer(failed(errc::no_permission));
        all.answer(replied(1));
        BOOST_TEST(all.leases[0].state() == lease_state::held);
        BOOST_TEST(all.leases[1].state() == lease_state::in_doubt);
        BOOST_TEST(all.leases[2].state() == lease_state::held);
        BOOST_TEST(all.count().renewals == 2U);
        BOOST_TEST(all.count().failed_renewals == 1U);
    }
}

BOOST_AUTO_TEST_CASE(one_that_was_refused_does_not_spoil_the_renewals_of_others_again) {
    world all;
    all.add_due(3, 40ms);
    all.run_holder();
    all.answer(failed(errc::no_permission));
    all.answer(replied(1));
    all.answer(failed(errc::no_permission));
    all.answer(unanswered());
    auto const again = [&] {
        all.run_holder();
        return all.server->requests.size() == 2;
    };
    BOOST_TEST(all.eventually(again));
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(all.oldest().keys() == 1U);
        all.answer(replied(1));
    }
    BOOST_TEST(all.number_in(lease_state::held) == 3U);
}

BOOST_AUTO_TEST_CASE(what_is_not_answered_is_doubt_for_all) {
    exec_result const table[] = {
        unanswered(),
        failed(errc::server_refused, exec_status::refused),
        failed({}, exec_status::not_sent),
    };
    for (auto const& result : table) {
        world all;
        all.add_due(3);
        all.run_holder();
        all.answer(result);
        BOOST_TEST(all.number_in(lease_state::in_doubt) == 3U);
        BOOST_TEST(all.count().failed_renewals == 3U);
        BOOST_TEST(all.sent().empty());
    }
}

BOOST_AUTO_TEST_CASE(one_that_is_released_while_it_waits_is_not_renewed) {
    world all;
    all.add_idle(1);
    all.add_due(3);
    all.run_holder();
    BOOST_TEST(all.sent().empty());
    all.leases[2].release(asio::detached);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 2; }));
    BOOST_TEST(all.sent() == "release renew_many");
    BOOST_TEST(all.server->requests.at(1).what.keys() == 2U);
    BOOST_TEST(all.server->requests.at(1).what.word(0) == "l1");
    BOOST_TEST(all.server->requests.at(1).what.word(1) == "l3");
}

BOOST_AUTO_TEST_CASE(a_renewal_is_not_that_of_the_next_holder) {
    passed_on all;
    auto const before = all.held_one->fsm().confirmed();
    all.answer(replied("11"));
    BOOST_TEST(all.count().renewals == 2U);
    BOOST_TEST((all.second.got.deadline() == all.deadline));
    BOOST_TEST((all.held_one->fsm().confirmed().until > before.until));
}

BOOST_AUTO_TEST_CASE(the_next_holder_learns_of_a_loss) {
    passed_on all;
    all.answer(replied("21"));
    BOOST_TEST(all.second.got.loss() == loss_reason::taken);
    BOOST_TEST(all.third->got.valid());
}

BOOST_AUTO_TEST_CASE(a_renewal_that_failed_puts_the_hold_in_doubt_and_not_the_next_holder) {
    for (auto const& result : {unanswered(), replied("91"), failed(errc::no_permission)}) {
        passed_on all;
        BOOST_TEST(!all.held_one->fsm().doubtful());
        all.answer(result);
        BOOST_TEST(all.held_one->fsm().doubtful());
        BOOST_TEST(all.second.got.state() == lease_state::held);
        BOOST_TEST((all.second.got.deadline() == all.deadline));
        BOOST_TEST(all.count().failed_renewals <= 1U);
    }
}

// That one is lost needs no replica to say so; of the others nobody knows whether they are kept.
BOOST_AUTO_TEST_CASE(what_replicas_do_not_have_is_doubt_and_a_loss_is_a_loss) {
    holdfast::config settings;
    settings.replicas.count = 1;
    world all{settings};
    all.add_due(3);
    all.run_holder();
    BOOST_TEST(all.server->requests.at(0).replicas == 1U);
    all.answer(replied("121"));
    BOOST_TEST(all.number_in(lease_state::in_doubt) == 2U);
    BOOST_TEST(all.leases[1].loss() == loss_reason::taken);
    BOOST_TEST(all.count().failed_renewals == 2U);
    BOOST_TEST(all.count().renewals == 0U);
}

BOOST_AUTO_TEST_CASE(on_a_cluster_those_of_one_slot_are_renewed_together) {
    holdfast::config settings;
    settings.cluster_nodes = {{"127.0.0.1", 7000}};
    world all{settings};
    for (auto const* name : {"{a}1", "{b}1", "{a}2", "{b}2", "{c}"}) {
        all.leases.push_back(grant(
            all,
            {.sent_ago = 2h,
             .holder = all.holder.get_executor(),
             .on = std::make_shared<target const>(make_lock_target("", name))}
        ));
    }
    all.run_holder();
    std::size_t together = 0;
    for (auto const& each : all.server->requests) {
        together += each.what.keys() == 2U ? 1 : 0;
    }
    BOOST_TEST(together == 2U);
    BOOST_TEST(all.server->requests.size() == 3U);
}

BOOST_AUTO_TEST_CASE(keys_that_are_on_two_nodes_are_renewed_one_by_one) {
    world all;
    all.add_due(2);
    all.run_holder();
    BOOST_TEST(all.sent() == "renew_many");
    auto apart = failed(errc::server_refused, exec_status::refused);
    apart.keys_apart = true;
    all.answer(apart);
    BOOST_TEST(all.sent() == "renew renew");
}

BOOST_AUTO_TEST_SUITE_END()
