// Several leases as one: what is said of them, and what becomes of the whole when one is lost or
// does not answer.

#include "lease/lease_group.hpp"

#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::lease;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::multi_lease;
using holdfast::detail::lease_group;
using holdfast::detail::make_lock_target;
using holdfast::detail::target;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::grant;
using holdfast::test::outcome;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::take_away;
using holdfast::test::unanswered;

namespace {

error_code const aborted = asio::error::operation_aborted;

struct two_leases : scripted_client {
    two_leases() {
        std::vector<lease> all;
        for (auto const* const name : {"a", "b"}) {
            all.push_back(
                grant(*this, {.on = std::make_shared<target const>(make_lock_target("", name))})
            );
        }
        deadline = all.front().deadline();
        group = lease_group::make(state, std::move(all));
    }

    multi_lease group;
    holdfast::lease_clock::time_point deadline;
};

/// The renewal of the first one finds that another holder has it.
void lose_the_first(two_leases& all) {
    all.group.renew([](error_code) {});
    all.run();
    take_away(all);
    all.answer(freed());
}

// Of a quorum

/// Leases on three nodes of five, which stand in for the clients of as many servers.
struct three_of_five : scripted_client {
    three_of_five() {
        std::vector<lease> all(5);
        for (auto const place : {0U, 2U, 3U}) {
            all[place] = make(std::chrono::minutes{place + 1});
            deadlines.push_back(all[place].deadline());
        }
        group = std::make_shared<lease_group>(state, std::move(all), 3);
        held = lease_group::make_lease(group, {9});
    }
    lease make(std::chrono::nanoseconds sent_ago = 0ns) {
        auto const name = std::to_string(++made);
        return grant(
            *this,
            {.sent_ago = sent_ago, .on = std::make_shared<target const>(make_lock_target("", name))}
        );
    }
    /// A renewal of all finds that the first ones were taken away.
    void lose_first(int lost) {
        held.renew([](error_code) {});
        run();
        for (int i = 0; !server->requests.empty(); ++i) {
            if (i < lost) {
                take_away(*this);
            } else {
                answer(freed());
            }
        }
    }

    int made = 0;
    std::vector<holdfast::lease_clock::time_point> deadlines;
    std::shared_ptr<lease_group> group;
    holdfast::quorum_lease held;
};

struct counting_keeper final : holdfast::detail::group_keeper {
    void ask_for_missing(holdfast::lease_clock::time_point) override { ++asked; }
    void on_group_over() noexcept override { ++over; }
    int asked = 0;
    int over = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lease_group_test)

BOOST_AUTO_TEST_CASE(it_has_the_earliest_deadline_and_all_tokens) {
    two_leases all;
    BOOST_TEST(all.group.size() == 2U);
    BOOST_TEST(all.group.valid());
    BOOST_TEST(static_cast<bool>(all.group));
    BOOST_TEST(all.group.state() == lease_state::held);
    BOOST_TEST(all.group.loss() == loss_reason::none);
    BOOST_TEST((all.group.deadline() == all.deadline));
    BOOST_TEST((all.group.remaining() > 0ns));
    BOOST_TEST((all.group.tokens() == std::vector<fencing_token>{{7}, {7}}));
    BOOST_TEST((all.group.token(2) == fencing_token{}));
}

BOOST_AUTO_TEST_CASE(a_renewal_asks_for_all_and_ends_with_the_last_answer) {
    two_leases all;
    outcome told;
    all.group.renew(told.plain());
    all.run();
    BOOST_TEST(all.sent() == "renew renew");
    all.answer(freed());
    BOOST_TEST(!told.error);
    all.answer(freed());
    BOOST_TEST((told.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(what_is_worst_is_reported) {
    struct {
        holdfast::detail::exec_result first, second;
        error_code expected;
    } const table[] = {
        {unanswered(), replied(0, 1), errc::lease_lost},
        {replied(0, 1), unanswered(), errc::lease_lost},
        {failed(errc::no_permission), unanswered(), errc::no_permission},
        {freed(), failed(errc::no_permission), errc::no_permission},
    };
    for (auto const& row : table) {
        two_leases all;
        outcome told;
        all.group.renew(told.plain());
        all.run();
        all.answer(row.first);
        all.answer(row.second);
        all.run();
        BOOST_TEST((told.error == row.expected));
    }
}

BOOST_AUTO_TEST_CASE(all_are_released_at_once_each_whatever_the_others_come_to) {
    two_leases all;
    outcome told;
    all.group.release(told.plain());
    BOOST_TEST(!all.group);
    all.run();
    BOOST_TEST(all.sent() == "release release");
    all.answer(failed(errc::no_permission));
    BOOST_TEST(!told.error);
    all.answer(freed());
    BOOST_TEST((told.error == errc::no_permission));
    BOOST_TEST(all.count().leases_now == 0U);

    outcome again;
    all.group.release(again.plain());
    all.run();
    BOOST_TEST((again.error == errc::not_held));
    BOOST_TEST((all.group.token(0) == fencing_token{7}));
}

BOOST_AUTO_TEST_CASE(a_cancelled_release_goes_on) {
    two_leases all;
    outcome told;
    asio::cancellation_signal cancel;
    all.group.release(asio::bind_cancellation_slot(cancel.slot(), told.plain()));
    cancel.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST((told.error == aborted));
    BOOST_TEST(all.sent() == "release release");
    all.answer(freed());
    all.answer(freed());
}

BOOST_AUTO_TEST_CASE(when_one_is_lost_the_whole_is_lost_and_the_others_are_held) {
    two_leases all;
    outcome first, second;
    all.group.wait_lost(first.loss());
    all.group.wait_lost(second.loss());
    lose_the_first(all);
    BOOST_TEST(all.eventually([&] { return first.error && second.error; }));
    BOOST_TEST((first.error == error_code{}));
    BOOST_TEST(first.reason == loss_reason::taken);
    BOOST_TEST(second.reason == loss_reason::taken);
    BOOST_TEST(all.group.state() == lease_state::lost);
    BOOST_TEST(all.group.loss() == loss_reason::taken);
    BOOST_TEST(!all.group.valid());
    BOOST_TEST(static_cast<bool>(all.group));
    BOOST_TEST(all.count().leases_now == 2U);

    outcome told, late;
    all.group.wait_lost(late.loss());
    all.group.release(told.plain());
    all.run();
    BOOST_TEST(late.reason == loss_reason::taken);
    BOOST_TEST(all.sent() == "release release");
    all.answer(replied(0, 1));
    all.answer(freed());
    BOOST_TEST((told.error == errc::lease_lost));
    BOOST_TEST(all.group.loss() == loss_reason::taken);
}

BOOST_AUTO_TEST_CASE(the_first_loss_is_the_one_that_is_told) {
    two_leases all;
    lose_the_first(all);
    BOOST_TEST(all.group.loss() == loss_reason::taken);
    all.state->shutdown([](error_code) {});
    all.run();
    BOOST_TEST(all.group.loss() == loss_reason::taken);
}

BOOST_AUTO_TEST_CASE(one_in_doubt_puts_the_whole_in_doubt) {
    two_leases all;
    all.group.renew([](error_code) {});
    all.run();
    all.answer(freed());
    all.answer(unanswered());
    BOOST_TEST(all.group.state() == lease_state::in_doubt);
    BOOST_TEST(all.group.valid());
}

BOOST_AUTO_TEST_CASE(a_majority_is_valid_as_long_as_the_third_best) {
    three_of_five all;
    BOOST_TEST(all.held.valid());
    BOOST_TEST((all.held.token() == fencing_token{9}));
    BOOST_TEST(all.held.nodes() == 3U);
    BOOST_TEST((all.held.deadline() == all.deadlines[2]));
    BOOST_TEST(all.group->join(1, all.make()));
    BOOST_TEST((all.held.deadline() == all.deadlines[1]));
    BOOST_TEST(all.group->join(4, all.make()));
    BOOST_TEST((all.held.deadline() == all.deadlines[0]));
    BOOST_TEST(all.held.nodes() == 5U);
    BOOST_TEST(!all.group->has_room(4));
}

BOOST_AUTO_TEST_CASE(one_lost_is_made_up_for_and_two_are_not) {
    three_of_five all;
    outcome lost;
    all.held.wait_lost(lost.loss());
    BOOST_TEST(all.group->join(1, all.make()));
    BOOST_TEST(all.group->join(4, all.make()));
    all.lose_first(2);
    BOOST_TEST(all.held.state() == lease_state::held);
    BOOST_TEST(all.held.loss() == loss_reason::none);
    BOOST_TEST(all.held.nodes() == 3U);
    BOOST_TEST(all.group->has_room(0));
    BOOST_TEST(all.group->join(0, all.make()));
    BOOST_TEST(all.held.nodes() == 4U);
    all.run();
    BOOST_TEST(all.sent() == "release");  // what was in its place
    all.answer(freed());
    BOOST_TEST(!lost.error);
    // Also those that joined after the watch began.
    all.lose_first(2);
    BOOST_TEST(all.eventually([&] { return lost.error.has_value(); }));
    BOOST_TEST(lost.reason == loss_reason::taken);
    BOOST_TEST(!all.held.valid());
    BOOST_TEST(all.held.loss() == loss_reason::taken);
}

BOOST_AUTO_TEST_CASE(those_that_join_are_watched_like_the_others) {
    three_of_five all;
    outcome lost;
    all.held.wait_lost(lost.loss());
    BOOST_TEST(all.group->join(1, all.make()));
    // The one that joined is the last to go.
    all.lose_first(2);
    BOOST_TEST(all.eventually([&] { return lost.error.has_value(); }));
    BOOST_TEST(lost.reason == loss_reason::taken);
}

BOOST_AUTO_TEST_CASE(a_majority_that_was_lost_does_not_come_back) {
    three_of_five all;
    all.lose_first(1);
    auto late = all.make();
    BOOST_TEST(!all.group->join(1, std::move(late)));
    BOOST_TEST(all.held.state() == lease_state::lost);
    outcome told;
    all.held.release(told.plain());
    all.run();
    while (!all.server->requests.empty()) {
        all.answer(freed());
    }
    BOOST_TEST((told.error == errc::lease_lost));
    BOOST_TEST(all.held.loss() == loss_reason::taken);
}

BOOST_AUTO_TEST_CASE(a_majority_that_answers_is_enough) {
    three_of_five all;
    BOOST_TEST(all.group->join(1, all.make()));
    outcome renewed;
    all.held.renew(renewed.plain());
    all.run();
    BOOST_TEST(all.sent() == "renew renew renew renew");
    all.answer(freed());
    all.answer(unanswered());
    all.answer(freed());
    BOOST_TEST(!renewed.error);
    all.answer(freed());
    BOOST_TEST((renewed.error == error_code{}));

    outcome released;
    all.held.release(released.plain());
    all.run();
    BOOST_TEST(all.sent() == "release release release release");
    all.answer(freed());
    all.answer(freed());
    BOOST_TEST(!released.error);
    all.answer(freed());
    BOOST_TEST((released.error == error_code{}));
    BOOST_TEST(!all.held);
    BOOST_TEST(!all.group->join(4, all.make()));
}

BOOST_AUTO_TEST_CASE(its_keeper_asks_for_what_is_missing_with_each_renewal_while_enough_are_left) {
    three_of_five all;
    auto const keeper = std::make_shared<counting_keeper>();
    all.group->set_keeper(keeper);
    BOOST_TEST(all.group->join(1, all.make()));
    all.lose_first(1);
    BOOST_TEST(keeper->asked == 1);
    outcome confirmed;
    all.group->confirm(confirmed.plain());
    all.run();
    BOOST_TEST(keeper->asked == 1);
    BOOST_TEST(all.sent() == "renew renew renew");
    for (int i = 0; i < 3; ++i) {
        all.answer(freed());
    }
    BOOST_TEST((confirmed.error == error_code{}));
    all.lose_first(1);
    BOOST_TEST(all.held.state() == lease_state::lost);
    BOOST_TEST(keeper->asked == 2);
    // Two are left, and nobody else can have a majority.
    BOOST_TEST(keeper->over == 0);
    all.held.renew([](error_code) {});
    all.run();
    BOOST_TEST(keeper->asked == 2);
    BOOST_TEST(keeper->over == 1);
    BOOST_TEST(all.sent() == "release release");
    BOOST_TEST(all.held.state() == lease_state::lost);
}

BOOST_AUTO_TEST_CASE(its_keeper_is_told_of_the_end_once) {
    for (bool const drops : {false, true}) {
        three_of_five all;
        auto const keeper = std::make_shared<counting_keeper>();
        all.group->set_keeper(keeper);
        BOOST_TEST(static_cast<bool>(all.group->holder()));
        if (!drops) {
            all.held.release([](error_code) {});
        }
        all.held = {};
        BOOST_TEST(keeper->over == 1);
        all.run();
    }
}

BOOST_AUTO_TEST_SUITE_END()
