#include "cli/run/run_fsm.hpp"

#include <algorithm>
#include <csignal>

namespace holdfast::cli {

namespace {

// The system tells of the end of the leader only: others are looked for.
constexpr std::chrono::milliseconds between_looks{20};

}  // namespace

run_fsm::step run_fsm::on_signal(int number) const noexcept {
    return state_ == state::gone ? step{} : step{.signal = number};
}

run_fsm::step run_fsm::on_lost(time_point at, duration grace) noexcept {
    if (lost_ || state_ == state::gone) {
        return {};
    }
    lost_ = true;
    // Without its lock, the group has no more time than this, whatever it had before.
    return end_group(at, grace);
}

run_fsm::step run_fsm::on_leader_ended(
    int status,
    bool others,
    time_point at,
    duration grace
) noexcept {
    status_ = status;
    if (!others) {
        state_ = state::gone;
        return {};
    }
    return state_ == state::running ? end_group(at, grace) : next_look(at);
}

run_fsm::step run_fsm::on_look(bool alive, time_point at) noexcept {
    if (state_ == state::running || state_ == state::gone) {
        return {};
    }
    if (!alive && status_) {
        state_ = state::gone;
        return {};
    }
    if (at < kill_at_ || state_ == state::killed) {
        return next_look(at);
    }
    state_ = state::killed;
    auto next = next_look(at);
    next.signal = SIGKILL;
    return next;
}

run_fsm::step run_fsm::end_group(time_point at, duration grace) noexcept {
    kill_at_ = std::min(kill_at_, at + grace);
    if (state_ == state::killed) {
        return next_look(at);
    }
    state_ = state::ending;
    auto next = next_look(at);
    next.signal = SIGTERM;
    next.with_continue = true;
    return next;
}

run_fsm::step run_fsm::next_look(time_point at) const noexcept {
    // While the leader lives, there is nothing to see before it has to be killed.
    bool const only_kills = !status_ && state_ == state::ending;
    auto const soon = at + between_looks;
    return {
        .look_at = only_kills                ? kill_at_
                   : state_ == state::ending ? std::min(soon, kill_at_)
                                             : soon
    };
}

}  // namespace holdfast::cli
