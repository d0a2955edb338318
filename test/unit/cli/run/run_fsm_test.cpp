// What happens to the processes of a command that runs under a lock.

#include "cli/run/run_fsm.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::cli::run_fsm;
using state = run_fsm::state;
using step = run_fsm::step;

namespace {

constexpr lease_clock::time_point t0{1h};

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_run_fsm_test)

BOOST_AUTO_TEST_CASE(a_command_that_ends_by_itself_and_leaves_nothing_is_done) {
    run_fsm fsm;
    BOOST_TEST((fsm.on_look(true, t0) == step{}));
    fsm.on_leader_ended(7 << 8);
    BOOST_TEST((fsm.on_look(false, t0) == step{}));
    BOOST_TEST((fsm.now() == state::gone));
    BOOST_TEST(fsm.status().value() == 7 << 8);
}

BOOST_AUTO_TEST_CASE(signals_are_passed_on_while_there_is_somebody) {
    run_fsm fsm;
    BOOST_TEST((fsm.on_signal(SIGUSR1) == step{.signal = SIGUSR1}));
    static_cast<void>(fsm.on_end(t0, 5s));
    BOOST_TEST((fsm.on_signal(SIGINT) == step{.signal = SIGINT}));
    // There is no such group any more.
    fsm.on_leader_ended(0);
    BOOST_TEST((fsm.on_signal(SIGINT) == step{.signal = SIGINT, .to_all = true}));
    static_cast<void>(fsm.on_look(false, t0));
    BOOST_TEST((fsm.on_signal(SIGINT) == step{}));
}

BOOST_AUTO_TEST_CASE(what_is_left_gets_term_and_later_kill) {
    run_fsm fsm;
    fsm.on_leader_ended(0);
    BOOST_TEST((fsm.on_look(true, t0) == step{}));
    auto const end = fsm.on_end(t0, 100ms);
    BOOST_TEST((end == step{.signal = SIGTERM, .to_all = true, .look_at = t0 + 20ms}));
    BOOST_TEST((fsm.on_look(true, t0 + 20ms) == step{.look_at = t0 + 40ms}));
    BOOST_TEST((fsm.on_look(true, t0 + 90ms) == step{.look_at = t0 + 100ms}));
    auto const kill = fsm.on_look(true, t0 + 100ms);
    BOOST_TEST((kill == step{.signal = SIGKILL, .to_all = true, .look_at = t0 + 120ms}));
    BOOST_TEST((fsm.now() == state::killed));
    // One that was killed may have started another one before.
    BOOST_TEST(fsm.on_look(true, t0 + 120ms).signal == SIGKILL);
    BOOST_TEST((fsm.on_look(false, t0 + 140ms) == step{}));
    BOOST_TEST((fsm.now() == state::gone));
}

BOOST_AUTO_TEST_CASE(a_command_that_has_to_end_gets_term_and_then_kill_even_if_the_leader_ends) {
    run_fsm fsm;
    auto const lost = fsm.on_end(t0, 1s);
    BOOST_TEST((lost == step{.signal = SIGTERM, .to_all = true, .look_at = t0 + 1s}));
    BOOST_TEST(fsm.on_end(t0 + 1ms, 1s).signal == 0);
    // The leader goes, others ignore TERM.
    fsm.on_leader_ended(0);
    BOOST_TEST((fsm.on_look(true, t0 + 10ms) == step{.look_at = t0 + 30ms}));
    // It is told to end because the leader has ended.
    BOOST_TEST((fsm.on_end(t0 + 10ms, 5s) == step{.look_at = t0 + 30ms}));
    BOOST_TEST(fsm.on_look(true, t0 + 1s).signal == SIGKILL);
    BOOST_TEST((fsm.on_look(false, t0 + 1020ms) == step{}));
    BOOST_TEST((fsm.now() == state::gone));
}

BOOST_AUTO_TEST_CASE(a_leader_that_lives_is_waited_for_after_kill) {
    run_fsm fsm;
    static_cast<void>(fsm.on_end(t0, 0s));
    BOOST_TEST(fsm.on_look(true, t0).signal == SIGKILL);
    // Nothing is seen, but nobody has told of the leader's end.
    BOOST_TEST((fsm.on_look(false, t0 + 20ms).look_at == t0 + 40ms));
    BOOST_TEST((fsm.now() == state::killed));
    fsm.on_leader_ended(SIGKILL);
    BOOST_TEST((fsm.on_look(false, t0 + 30ms) == step{}));
    BOOST_TEST((fsm.now() == state::gone));
}

BOOST_AUTO_TEST_CASE(a_loss_shortens_the_time_of_a_command_that_is_ending) {
    run_fsm fsm;
    fsm.on_leader_ended(0);
    static_cast<void>(fsm.on_end(t0, 10s));
    static_cast<void>(fsm.on_end(t0 + 1s, 1s));
    BOOST_TEST(fsm.on_look(true, t0 + 1999ms).signal == 0);
    BOOST_TEST(fsm.on_look(true, t0 + 2s).signal == SIGKILL);
}

BOOST_AUTO_TEST_CASE(term_waits_for_daemons_to_leave_the_session) {
    run_fsm fsm;
    fsm.on_leader_ended(0, t0 + 100ms);
    BOOST_TEST((fsm.on_end(t0, 50ms) == step{.look_at = t0 + 20ms}));
    BOOST_TEST((fsm.now() == state::settling));
    // The lock is lost meanwhile.
    BOOST_TEST((fsm.on_end(t0 + 10ms, 50ms) == step{.look_at = t0 + 30ms}));
    BOOST_TEST((fsm.on_look(true, t0 + 99ms) == step{.look_at = t0 + 119ms}));
    auto const end = fsm.on_look(true, t0 + 100ms);
    BOOST_TEST((end == step{.signal = SIGTERM, .to_all = true, .look_at = t0 + 120ms}));
    BOOST_TEST((fsm.on_look(true, t0 + 149ms) == step{.look_at = t0 + 150ms}));
    BOOST_TEST(fsm.on_look(true, t0 + 150ms).signal == SIGKILL);
}

BOOST_AUTO_TEST_CASE(what_leaves_the_session_in_time_gets_no_signal) {
    run_fsm fsm;
    fsm.on_leader_ended(0, t0 + 100ms);
    static_cast<void>(fsm.on_end(t0, 1s));
    BOOST_TEST((fsm.on_look(false, t0 + 20ms) == step{}));
    BOOST_TEST((fsm.now() == state::gone));
}

BOOST_AUTO_TEST_CASE(kill_does_not_wait_for_the_grace_time_or_for_daemons_if_it_is_due) {
    run_fsm fsm;
    auto const end = fsm.on_end(t0, 10s, t0 + 1s);
    BOOST_TEST((end == step{.signal = SIGTERM, .to_all = true, .look_at = t0 + 1s}));
    BOOST_TEST(fsm.on_look(true, t0 + 1s).signal == SIGKILL);

    run_fsm with_daemons;
    with_daemons.on_leader_ended(0, t0 + 100ms);
    BOOST_TEST((with_daemons.on_end(t0, 10s, t0 + 10ms) == step{.look_at = t0 + 10ms}));
    BOOST_TEST(with_daemons.on_look(true, t0 + 10ms).signal == SIGKILL);
}

BOOST_AUTO_TEST_CASE(nothing_is_done_after_the_end) {
    run_fsm fsm;
    fsm.on_leader_ended(0);
    static_cast<void>(fsm.on_look(false, t0));
    BOOST_TEST((fsm.on_end(t0, 1s) == step{}));
    BOOST_TEST((fsm.on_look(false, t0) == step{}));
    BOOST_TEST((fsm.now() == state::gone));
}

BOOST_AUTO_TEST_SUITE_END()
