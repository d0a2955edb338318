// When the waiters of a key try: after everything that may have freed the lock, never twice at a
// time, and, whatever the server says of the time that is left, at some time at last.

#include "core/room_fsm.hpp"

#include "fuzz/input.hpp"
#include "fuzz/targets.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace holdfast::fuzz {

namespace {

using detail::millis;
using detail::nanos;
using detail::time_point;
using fsm_type = detail::room_fsm;

constexpr nanos day = std::chrono::hours{24};

nanos up_to(input& in, nanos longest) {
    auto const any = in.flag() ? in.number<std::uint16_t>() : in.number<std::uint64_t>();
    return nanos{static_cast<nanos::rep>(any % (static_cast<std::uint64_t>(longest.count()) + 1))};
}

// Whatever a script may have returned.
std::int64_t any_remaining(input& in) {
    constexpr std::int64_t special[] = {
        -1,
        0,
        1,
        30'000,
        std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()
    };
    switch (in.below(3)) {
        case 0: return in.one_of(special);
        case 1: return in.number<std::uint16_t>();
        default: return in.number<std::int64_t>();
    }
}

struct times {
    nanos fallback;
    nanos backoff_min;
    nanos backoff_max;
};

// What `check_config` lets through.
times any_times(input& in) {
    times result{};
    result.fallback = millis{10} + up_to(in, day - millis{10});
    result.backoff_max = millis{1} + up_to(in, day - millis{1});
    result.backoff_min = millis{1} + up_to(in, result.backoff_max - millis{1});
    return result;
}

// A machine, and what is known of it from outside.
class history {
public:
    explicit history(times const& chosen)
        : times_{chosen},
          fsm_{chosen.fallback, chosen.backoff_min, chosen.backoff_max} {
        inspect();
    }

    void go_on(input& in) {
        now_ += up_to(in, day);
        switch (in.below(10)) {
            case 0: send(); break;
            case 1: busy(in); break;
            case 2: granted(in); break;
            case 3: setback(in, false); break;
            case 4: setback(in, true); break;
            case 5:
                fsm_.on_undecided();
                in_flight_ = false;
                news_ = true;
                break;
            case 6:
                fsm_.on_news();
                news_ = true;
                break;
            case 7: subscription(in); break;
            case 8:
                fsm_.on_connected();
                connected_ = news_ = true;
                break;
            default:
                fsm_.on_disconnected();
                connected_ = false;
                break;
        }
        inspect();
    }

private:
    // Only when it is time, as the room does.
    void send() {
        if (!fsm_.attempt_at()) {
            return;
        }
        fsm_.on_attempt_sent();
        in_flight_ = true;
        news_ = false;
        earliest_ = latest_ = time_point::max();
    }

    // Somebody has to look between the two instants.
    void look_between(time_point earliest, time_point latest) {
        earliest_ = std::min(earliest_, earliest);
        latest_ = std::min(latest_, latest);
    }

    void busy(input& in) {
        if (!in_flight_) {
            return;
        }
        auto const remaining = any_remaining(in);
        auto const jitter = up_to(in, millis{16});
        fsm_.on_busy(remaining, jitter, now_);
        in_flight_ = false;
        backoff_ = times_.backoff_min;
        asked_ = busy_ = true;
        // Longer than anybody waits, and no sum of it overflows.
        constexpr auto far = millis{std::chrono::hours{24 * 365}};
        auto const bounded = std::min(remaining, std::int64_t{far.count()});
        auto wait = remaining < 0 ? times_.fallback : nanos{millis{bounded}} + jitter;
        auto longest = remaining > bounded ? nanos::max() / 2 + millis{17} : wait;
        if (!subscribed_) {
            wait = std::min(wait, times_.fallback);
            longest = std::min(longest, times_.fallback);
        }
        look_between(now_ + wait, detail::saturating_add(now_, longest));
    }

    void granted(input& in) {
        if (!in_flight_) {
            return;
        }
        auto const lease = detail::min_lease + up_to(in, day - detail::min_lease);
        fsm_.on_granted(lease, now_);
        in_flight_ = false;
        backoff_ = times_.backoff_min;
        asked_ = busy_ = true;
        auto const wait = subscribed_ ? lease : std::min(lease, times_.fallback);
        look_between(now_ + wait, now_ + wait);
    }

    void setback(input& in, bool refused) {
        if (!in_flight_) {
            return;
        }
        if (refused) {
            fsm_.on_refused(in.part(), now_);
            busy_ = false;
        } else {
            fsm_.on_setback(in.part(), now_);
        }
        in_flight_ = false;
        look_between(now_, now_ + backoff_);
        backoff_ = std::min(backoff_ * 2, times_.backoff_max);
    }

    void subscription(input& in) {
        if (in.flag()) {
            fsm_.on_unsubscribed(now_);
            subscribed_ = false;
            look_between(now_ + times_.fallback, now_ + times_.fallback);
            return;
        }
        auto const delay = in.flag() ? nanos{0} : up_to(in, millis{16});
        fsm_.on_subscribed(delay, now_);
        subscribed_ = true;
        if (delay > nanos{0}) {
            look_between(now_ + delay, now_ + delay);
        } else {
            news_ = true;
        }
    }

    void inspect() const {
        check(fsm_.wants_notices() == asked_, "notices are of use once the lock was not to be had");
        check(
            fsm_.last_answer_was_busy() == busy_,
            "the lock is busy if the last definite answer says so"
        );
        auto const at = fsm_.attempt_at();
        check(
            at.has_value() == (connected_ && !in_flight_),
            "one attempt at a time, and only with a connection"
        );
        if (!at) {
            return;
        }
        if (news_) {
            check(
                *at == time_point::min(),
                "what may have freed the lock is followed by an attempt"
            );
            return;
        }
        check(*at < time_point::max(), "nobody sleeps for ever");
        check(*at >= earliest_, "nobody tries without need");
        check(*at <= latest_, "nobody sleeps too long");
    }

    times times_;
    fsm_type fsm_;
    time_point now_{};
    // The bounds of the next attempt.
    time_point earliest_ = time_point::max();
    time_point latest_ = time_point::max();
    nanos backoff_ = times_.backoff_min;
    bool connected_ = true;
    bool subscribed_ = false;
    bool in_flight_ = false;
    bool news_ = true;
    bool asked_ = false;
    bool busy_ = false;
};

}  // namespace

void room_fsm(bytes data) {
    input in{data};
    history room{any_times(in)};
    // So that the clock does not come to its end.
    for (int events = 0; events < 1'000 && !in.empty(); ++events) {
        room.go_on(in);
    }
}

}  // namespace holdfast::fuzz
