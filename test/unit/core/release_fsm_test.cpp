// A release until it was answered, or until the server has freed the lock by itself: when it is
// sent again, and what its caller is told.

#include "core/release_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::loss_reason;
using holdfast::detail::release_fsm;
using holdfast::detail::time_point;
using answer = release_fsm::answer;
using verdict = release_fsm::verdict;

namespace {

constexpr time_point t0{1'000s};
constexpr auto timeout = 3s;
constexpr auto pause_time = 50ms;
constexpr time_point until = t0 + 30s;

release_fsm::terms terms(bool was_lost = false, bool withdrawal = false) {
    return {.until = until, .timeout = timeout, .was_lost = was_lost, .withdrawal = withdrawal};
}

verdict told(error_code error, bool left_behind = false, loss_reason lost = loss_reason::none) {
    return {true, error, true, left_behind, lost};
}

verdict const go_on{};

release_fsm sent(release_fsm::terms const& of = terms()) {
    release_fsm fsm{of, t0};
    fsm.on_sent();
    return fsm;
}

verdict answered(
    release_fsm fsm,
    answer what,
    loss_reason why = loss_reason::none,
    error_code cause = {}
) {
    return fsm.on_answer(what, cause, why, pause_time, t0 + 1ms);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(release_fsm_test)

BOOST_AUTO_TEST_CASE(it_lasts_as_long_as_the_server_may_keep_the_lock) {
    using holdfast::detail::lease_terms;
    lease_terms const asked{.lease = 30s, .request_timeout = timeout};
    auto const lease = release_fsm::terms::of_lease(asked, t0, true);
    BOOST_TEST((lease.until == until));
    BOOST_TEST((lease.timeout == timeout));
    BOOST_TEST(lease.was_lost);
    BOOST_TEST(!lease.withdrawal);
    auto const withdrawal = release_fsm::terms::of_withdrawal(asked, t0);
    BOOST_TEST((withdrawal.until == until));
    BOOST_TEST((withdrawal.timeout == timeout));
    BOOST_TEST(!withdrawal.was_lost);
    BOOST_TEST(withdrawal.withdrawal);
}

BOOST_AUTO_TEST_CASE(it_is_sent_at_once_and_once) {
    release_fsm fsm{terms(), t0};
    BOOST_TEST(fsm.due(t0));
    fsm.on_sent();
    BOOST_TEST(!fsm.due(t0 + 10s));
    BOOST_TEST(fsm.wake_at() == time_point::max());
    BOOST_TEST(fsm.look(t0 + 100s) == go_on);
}

BOOST_AUTO_TEST_CASE(a_definite_answer_ends_it) {
    error_code const no_permission = errc::no_permission;
    BOOST_TEST(answered(sent(), answer::freed) == told({}));
    BOOST_TEST(
        answered(sent(), answer::not_ours, loss_reason::taken) ==
        told(errc::lease_lost, false, loss_reason::taken)
    );
    BOOST_TEST(
        answered(sent(), answer::corrupt) == told(errc::lease_lost, false, loss_reason::deleted)
    );
    // Refused for good: the key stays until its end.
    BOOST_TEST(
        answered(sent(), answer::failed, loss_reason::none, no_permission) ==
        told(no_permission, true)
    );
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_lost_before_is_not_released_with_success) {
    for (auto const what : {answer::freed, answer::not_ours, answer::corrupt}) {
        auto const ended = answered(sent(terms(true)), what);
        BOOST_TEST((ended.error == errc::lease_lost));
        BOOST_TEST(!ended.left_behind);
    }
    BOOST_TEST(
        answered(sent(terms(true)), answer::failed, loss_reason::none, errc::no_permission) ==
        told(errc::lease_lost, true)
    );
}

BOOST_AUTO_TEST_CASE(a_withdrawal_of_what_was_never_ours_is_done) {
    BOOST_TEST(
        answered(sent(terms(false, true)), answer::not_ours, loss_reason::taken) == told({})
    );
}

BOOST_AUTO_TEST_CASE(not_ours_after_an_unanswered_request_is_our_own_doing) {
    auto fsm = sent();
    BOOST_TEST(fsm.on_answer(answer::unknown, {}, {}, pause_time, t0 + 1s) == go_on);
    fsm.on_sent();
    BOOST_TEST(
        fsm.on_answer(answer::not_ours, {}, loss_reason::deleted, pause_time, t0 + 2s) == told({})
    );
}

BOOST_AUTO_TEST_CASE(not_ours_after_a_refusal_is_a_loss) {
    auto fsm = sent();
    BOOST_TEST(fsm.on_answer(answer::refused, {}, {}, pause_time, t0 + 1s) == go_on);
    fsm.on_sent();
    BOOST_TEST(
        fsm.on_answer(answer::not_ours, {}, loss_reason::deleted, pause_time, t0 + 2s) ==
        told(errc::lease_lost, false, loss_reason::deleted)
    );
}

BOOST_AUTO_TEST_CASE(without_an_answer_it_is_sent_again_after_a_pause) {
    for (auto const what : {answer::unknown, answer::refused}) {
        auto fsm = sent();
        BOOST_TEST(fsm.on_answer(what, {}, {}, pause_time, t0 + 1s) == go_on);
        BOOST_TEST(!fsm.due(t0 + 1s));
        BOOST_TEST(fsm.wake_at() == t0 + 1s + pause_time);
        BOOST_TEST(fsm.due(t0 + 1s + pause_time));
    }
}

BOOST_AUTO_TEST_CASE(without_a_connection_it_is_sent_when_there_is_one) {
    auto fsm = sent();
    fsm.on_disconnected();
    BOOST_TEST(fsm.on_answer(answer::unknown, {}, {}, pause_time, t0 + 1s) == go_on);
    BOOST_TEST(!fsm.due(t0 + 5s));
    // Its caller is told in time all the same.
    BOOST_TEST(fsm.wake_at() == t0 + 2 * timeout);
    fsm.on_connected(10ms, t0 + 2s);
    BOOST_TEST(!fsm.due(t0 + 2s));
    BOOST_TEST(fsm.wake_at() == t0 + 2s + 10ms);
    BOOST_TEST(fsm.due(t0 + 2s + 10ms));
}

BOOST_AUTO_TEST_CASE(a_new_connection_does_not_repeat_a_request_in_flight) {
    auto fsm = sent();
    fsm.on_connected(0ns, t0 + 1s);
    BOOST_TEST(!fsm.due(t0 + 1s));
}

BOOST_AUTO_TEST_CASE(its_caller_is_told_after_two_time_outs_and_it_goes_on) {
    auto fsm = sent();
    BOOST_TEST(fsm.on_answer(answer::unknown, {}, {}, pause_time, t0 + 5s) == go_on);
    BOOST_TEST(fsm.look(t0 + 2 * timeout - 1ns) == go_on);
    verdict const unknown{true, errc::release_unknown, false, false, loss_reason::none};
    BOOST_TEST(fsm.look(t0 + 2 * timeout) == unknown);
    BOOST_TEST(fsm.look(t0 + 2 * timeout) == go_on);
    // What comes of it then is for nobody.
    fsm.on_sent();
    verdict const silent{false, {}, true, false, loss_reason::none};
    BOOST_TEST(fsm.on_answer(answer::freed, {}, {}, pause_time, t0 + 10s) == silent);
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_when_the_caller_was_to_be_told_tells_it) {
    auto fsm = sent();
    verdict const unknown{true, errc::release_unknown, false, false, loss_reason::none};
    BOOST_TEST(fsm.on_answer(answer::unknown, {}, {}, pause_time, t0 + 2 * timeout) == unknown);
}

BOOST_AUTO_TEST_CASE(when_the_server_has_freed_the_lock_by_itself_nothing_more_is_sent) {
    auto fsm = sent();
    fsm.on_disconnected();
    fsm.on_answer(answer::unknown, {}, {}, pause_time, t0 + 5s);
    fsm.look(t0 + 2 * timeout);
    BOOST_TEST(fsm.wake_at() == until);
    verdict const over{false, errc::release_unknown, true, false, loss_reason::none};
    BOOST_TEST(fsm.look(until) == over);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_leaves_the_lock_behind) {
    BOOST_TEST(sent().on_stopped() == told(errc::release_unknown, true));
    BOOST_TEST(sent(terms(true)).on_stopped() == told(errc::lease_lost, true));
}

BOOST_AUTO_TEST_CASE(the_delay_of_a_new_connection_takes_half_of_the_time_that_is_left_at_most) {
    auto fsm = sent();
    fsm.on_disconnected();
    fsm.on_answer(answer::unknown, {}, {}, pause_time, t0 + 1s);
    auto late = fsm;
    // The caller is told at the end of two time-outs.
    fsm.on_connected(250ms, t0 + 2 * timeout - 100ms);
    BOOST_TEST(fsm.wake_at() == t0 + 2 * timeout - 50ms);
    late.look(t0 + 2 * timeout);
    late.on_connected(250ms, until - 20ms);
    BOOST_TEST(late.wake_at() == until - 10ms);
}

BOOST_AUTO_TEST_SUITE_END()
