#include "cli/run/run_fsm.hpp"

#include <algorithm>
#include <csignal>

namespace holdfast::cli {

namespace {

// The system tells of the end of children only: what they have started is looked for.
constexpr std::chrono::milliseconds between_looks{20};

}  // namespace

run_fsm::step run_fsm::on_signal(int number) const noexcept {
    // The id of a leader that has ended may be another group's.
    return state_ == state::gone ? step{} : step{.signal = number, .to_all = status_.has_value()};
}

run_fsm::step run_fsm::on_end(time_point at, duration grace, time_point kill_by) noexcept {
    if (state_ == state::gone) {
        return {};
    }
    kill_at_ = std::min({kill_at_, std::max(at, term_from_) + grace, kill_by});
    if (state_ == state::running) {
        state_ = state::settling;
    }
    return state_ == state::settling ? terminate(at) : next_look(at);
}

run_fsm::step run_fsm::on_look(bool alive, time_point at) noexcept {
    if (!alive && status_) {
        state_ = state::gone;
        return {};
    }
    if (state_ == state::running) {
        return {};
    }
    if (at < kill_at_) {
        return state_ == state::settling ? terminate(at) : next_look(at);
    }
    // Again and again: one that is killed may have started another one before.
    state_ = state::killed;
    auto next = next_look(at);
    next.signal = SIGKILL;
    next.to_all = true;
    return next;
}

run_fsm::step run_fsm::terminate(time_point at) noexcept {
    if (at < term_from_) {
        return next_look(at);
    }
    state_ = state::ending;
    auto next = next_look(at);
    next.signal = SIGTERM;
    next.to_all = true;
    return next;
}

run_fsm::step run_fsm::next_look(time_point at) const noexcept {
    // While the leader lives, there is nothing to see before it has to be killed.
    bool const only_kills = !status_ && state_ == state::ending;
    auto const soon = at + between_looks;
    return {
        .look_at = only_kills                ? kill_at_
                   : state_ == state::killed ? soon
                                             : std::min(soon, kill_at_)
    };
}

}  // namespace holdfast::cli
