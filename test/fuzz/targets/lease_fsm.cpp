// The life of a grant under any events at any times: a loss and a release are final, only a
// confirmed renewal moves the deadline, and never beyond what the server promised; nothing is
// renewed after the end, and nobody sleeps beyond it.

#include "core/lease_fsm.hpp"

#include "fuzz/input.hpp"
#include "fuzz/settings.hpp"
#include "fuzz/targets.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace holdfast::fuzz {

namespace {

using detail::lease_terms;
using detail::nanos;
using detail::time_point;
using fsm_type = detail::lease_fsm;
using step_kind = fsm_type::step_kind;

constexpr nanos day = std::chrono::hours{24};

// As long as the connection or an answer may take to be dealt with.
nanos short_time(input& in) {
    switch (in.below(4)) {
        case 0: return nanos{in.number<std::uint8_t>()};
        case 1: return std::chrono::microseconds{in.number<std::uint16_t>()};
        case 2: return std::chrono::milliseconds{in.number<std::uint16_t>()};
        default: return std::min<nanos>(std::chrono::seconds{in.number<std::uint32_t>()}, day);
    }
}

enum class event {
    look,
    renewal_sent,
    renewed,
    not_ours,
    renewal_failed,
    disconnected,
    connected,
    client_stopped,
    released,
};
constexpr event all_events[] = {
    event::look,
    event::renewal_sent,
    event::renewed,
    event::not_ours,
    event::renewal_failed,
    event::disconnected,
    event::connected,
    event::client_stopped,
    event::released,
};

bool is_alive(lease_state state) {
    return state == lease_state::held || state == lease_state::in_doubt;
}

// A machine, and what is known of it from outside.
class history {
public:
    history(lease_terms const& terms, time_point sent_at, time_point granted_at)
        : terms_{terms},
          fsm_{terms, sent_at, granted_at},
          now_{granted_at},
          deadline_{sent_at + terms.lease - terms.drift},
          due_{sent_at + terms.renew_after},
          hold_until_{
              terms.max_hold > nanos{0} ? detail::saturating_add(granted_at, terms.max_hold)
                                        : time_point::max()
          } {
        look(event::look);
    }

    void go_on(input& in) {
        move_clock(in);
        // What the clock decides, it decides before the event.
        auto const before = after_clock();
        auto const what = in.one_of(all_events);
        happen(what, before, in);
        look(what);
        check_steps();
    }

private:
    [[nodiscard]] time_point stop_time() const {
        return std::min(deadline_ - terms_.notice, hold_until_);
    }

    // The clock does not go back, but two threads may look at it in one order and come to the
    // machine in the other.
    void move_clock(input& in) {
        switch (in.below(5)) {
            case 0: break;
            case 1: now_ = std::max(now_, next_step_); break;
            case 2: now_ = std::max(now_, next_step_ - nanos{1}); break;
            case 3: now_ += short_time(in); break;
            default: now_ -= nanos{in.number<std::uint8_t>()}; break;
        }
    }

    [[nodiscard]] lease_state after_clock() const {
        return is_alive(state_) && now_ >= stop_time() ? lease_state::lost : state_;
    }

    void happen(event what, lease_state before, input& in) {
        bool const alive = is_alive(before);
        reason_ = loss_reason::none;
        switch (what) {
            case event::look: break;
            case event::renewal_sent:
                fsm_.on_renewal_sent(now_);
                in_flight_ = tried_ = true;
                due_ = now_ + terms_.renew_after;
                break;
            case event::renewed: on_renewed(alive, in); break;
            case event::not_ours:
                reason_ = in.flag() ? loss_reason::taken : loss_reason::deleted;
                fsm_.on_not_ours(reason_, now_);
                in_flight_ = false;
                break;
            case event::renewal_failed: {
                auto const pause = short_time(in);
                fsm_.on_renewal_failed(pause, now_);
                in_flight_ = false;
                tried_ = true;
                due_ = now_ + pause;
                break;
            }
            case event::disconnected: fsm_.on_disconnected(now_); break;
            case event::connected: {
                auto const delay = short_time(in);
                fsm_.on_connected(delay, now_);
                if (before == lease_state::in_doubt) {
                    due_ = std::min(due_, now_ + delay);
                }
                break;
            }
            case event::client_stopped:
                reason_ = loss_reason::client_stopped;
                fsm_.on_client_stopped(now_);
                in_flight_ = false;
                break;
            case event::released:
                check(
                    fsm_.on_release(now_) == (before != lease_state::empty),
                    "a lease is released once"
                );
                break;
        }
    }

    void on_renewed(bool alive, input& in) {
        auto const sent_at = now_ - short_time(in);
        bool const to_be_woken = fsm_.on_renewed(sent_at, now_);
        in_flight_ = false;
        if (!alive) {
            check(!to_be_woken, "nobody is woken after the end");
            return;
        }
        tried_ = false;
        check(to_be_woken == (now_ >= due_), "who may sleep past a renewal is woken");
        deadline_ = std::max(deadline_, sent_at + terms_.lease - terms_.drift);
        due_ = std::max(due_, sent_at + terms_.renew_after);
    }

    void look(event what) {
        auto const before = state_;
        auto const by_clock = after_clock();
        check(fsm_.deadline() == deadline_, "only a confirmed renewal moves the deadline");
        auto const stop = stop_time();
        state_ = fsm_.look(now_);
        check(!is_alive(state_) || now_ < stop, "nobody holds a lease after its stop");
        check_transition(before, by_clock, what);
        check_loss(before, by_clock, stop);
    }

    void check_transition(lease_state before, lease_state by_clock, event what) {
        bool const released = what == event::released;
        switch (state_) {
            case lease_state::empty:
                check(released || before == lease_state::empty, "only a release empties a lease");
                break;
            case lease_state::lost:
                check(before != lease_state::empty, "a released lease is not lost");
                check(
                    before == lease_state::lost || by_clock == lease_state::lost ||
                        after_clock() == lease_state::lost || reason_ != loss_reason::none,
                    "a lease is lost for a reason"
                );
                break;
            case lease_state::in_doubt:
                check(is_alive(before), "a lease that is over does not come back");
                check(
                    before == lease_state::in_doubt || what == event::renewal_failed ||
                        what == event::disconnected,
                    "doubt has a cause"
                );
                break;
            case lease_state::held:
                check(is_alive(before), "a lease that is over does not come back");
                check(
                    before == lease_state::held || what == event::renewed ||
                        (what == event::connected && !terms_.renew),
                    "doubt ends with a confirmed renewal"
                );
                check(
                    what != event::disconnected && what != event::renewal_failed,
                    "a lease without a connection is in doubt"
                );
                break;
        }
        if (released) {
            check(state_ == lease_state::empty, "a released lease is empty");
        }
        if (reason_ != loss_reason::none) {
            check(!is_alive(state_), "a definite refusal ends a lease");
        }
    }

    void check_loss(lease_state before, lease_state by_clock, time_point stop) {
        auto const loss = fsm_.loss();
        if (loss_ != loss_reason::none) {
            check(loss == loss_, "the reason of a loss is final");
            return;
        }
        loss_ = loss;
        if (state_ != lease_state::lost && by_clock != lease_state::lost) {
            check(loss == loss_reason::none, "a reason comes with a loss");
            return;
        }
        if (before == lease_state::empty) {
            return;
        }
        if (now_ < stop) {
            check(
                loss == reason_ && loss != loss_reason::none,
                "a refusal is the reason of a loss"
            );
            return;
        }
        switch (loss) {
            case loss_reason::max_hold:
                check(
                    hold_until_ <= deadline_ - terms_.notice && now_ >= hold_until_,
                    "the longest hold is over when it is the reason"
                );
                break;
            case loss_reason::expired:
                check(!tried_, "a renewal that was tried in vain is the reason");
                check(now_ >= deadline_ - terms_.notice, "a lease ends not before its time");
                break;
            case loss_reason::unreachable:
                check(
                    tried_ || (terms_.renew && before == lease_state::in_doubt),
                    "a renewal was tried, or could not be"
                );
                check(now_ >= deadline_ - terms_.notice, "a lease ends not before its time");
                break;
            default: check(false, "the clock ends a lease for a reason of its own"); break;
        }
    }

    void check_steps() {
        bool const alive = is_alive(state_);
        auto const next = fsm_.next(now_);
        auto const watch = fsm_.watch(now_);
        check(fsm_.deadline() == deadline_, "looking moves nothing");
        if (!alive) {
            check(next.kind == step_kind::finish, "nothing is renewed after the end");
            check(watch.kind == step_kind::finish, "nobody watches what is over");
            return;
        }
        check(
            watch.kind == step_kind::sleep && watch.until == stop_time(),
            "who watches wakes up at the loss"
        );
        bool const due = terms_.renew && now_ >= due_;
        if (due && !in_flight_) {
            check(next.kind == step_kind::renew, "a renewal that is due is sent");
            return;
        }
        check(next.kind == step_kind::sleep, "no renewal is sent before its time, or twice");
        check(next.until > now_ && next.until <= stop_time(), "who sleeps wakes up at the loss");
        check(due || !terms_.renew || next.until <= due_, "who sleeps wakes up for the renewal");
        next_step_ = next.until;
    }

    lease_terms terms_;
    fsm_type fsm_;
    time_point now_;
    time_point next_step_{};
    time_point deadline_;
    time_point due_;
    time_point hold_until_;
    lease_state state_ = lease_state::held;
    loss_reason loss_ = loss_reason::none;
    // What the event at hand ends the lease with, if it still lives.
    loss_reason reason_ = loss_reason::none;
    bool in_flight_ = false;
    bool tried_ = false;
};

}  // namespace

void lease_fsm(bytes data) {
    input in{data};
    auto const terms = accepted_terms(in);
    // A century of uptime at most.
    constexpr nanos longest_uptime = std::chrono::hours{24} * 36'525;
    auto const uptime = nanos{static_cast<nanos::rep>(
        in.number<std::uint64_t>() % static_cast<std::uint64_t>(longest_uptime.count())
    )};
    auto const sent_at = time_point{uptime};
    history lease{terms, sent_at, sent_at + short_time(in)};
    // More events show nothing new, and the clock must not come to its end.
    for (int events = 0; events < 1'000 && !in.empty(); ++events) {
        lease.go_on(in);
    }
}

}  // namespace holdfast::fuzz
