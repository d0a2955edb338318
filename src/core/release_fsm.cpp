#include "core/release_fsm.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

error_code release_fsm::gave_up() const noexcept {
    // mutant: unknown-release-called-done
    return terms_.was_lost ? errc::lease_lost : errc::release_unknown;
}

release_fsm::verdict release_fsm::finish(error_code error, bool left_behind) noexcept {
    bool const tell = !std::exchange(told_, true);
    return {tell, error, true, left_behind, loss_reason::none};
}

void release_fsm::on_sent() noexcept {
    in_flight_ = true;
    send_at_ = time_point::max();
}

release_fsm::verdict release_fsm::on_answer(
    answer what,
    error_code cause,
    loss_reason why,
    nanos pause,
    time_point now
) noexcept {
    in_flight_ = false;
    error_code const as_before = terms_.was_lost ? make_error_code(errc::lease_lost) : error_code{};
    switch (what) {
        case answer::freed: return finish(as_before, false);
        case answer::not_ours: {
            if (terms_.withdrawal || unsure_) {
                return finish(as_before, false);
            }
            auto lost = finish(errc::lease_lost, false);
            lost.lost = why;
            return lost;
        }
        case answer::corrupt: {
            auto lost = finish(errc::lease_lost, false);
            lost.lost = loss_reason::deleted;
            return lost;
        }
        case answer::failed:
            return finish(terms_.was_lost ? make_error_code(errc::lease_lost) : cause, true);
        case answer::unknown: unsure_ = true; break;
        case answer::refused: break;
    }
    send_at_ = connected_ ? now + pause : time_point::max();
    return look(now);
}

release_fsm::verdict release_fsm::look(time_point now) noexcept {
    if (in_flight_) {
        return {};
    }
    if (now >= terms_.until) {
        return finish(gave_up(), false);
    }
    if (now >= answer_by() && !std::exchange(told_, true)) {
        return {true, gave_up(), false, false, loss_reason::none};
    }
    return {};
}

void release_fsm::on_connected(nanos delay, time_point now) noexcept {
    connected_ = true;
    if (!in_flight_) {
        auto const ends = told_ ? terms_.until : std::min(terms_.until, answer_by());
        auto const most = std::max<nanos>((ends - now) / 2, nanos{0});
        send_at_ = std::min(send_at_, now + std::min(delay, most));
    }
}

release_fsm::verdict release_fsm::on_stopped() noexcept {
    return finish(gave_up(), true);
}

time_point release_fsm::wake_at() const noexcept {
    if (in_flight_) {
        return time_point::max();
    }
    auto const next = std::min(send_at_, terms_.until);
    return told_ ? next : std::min(next, answer_by());
}

}  // namespace holdfast::detail
