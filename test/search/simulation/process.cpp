#include "simulation/process.hpp"

#include "simulation/runtime.hpp"
#include "simulation/world.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast::sim {

// Executors

executor::executor(lane& on, bool never, bool tracked) noexcept
    : on_{&on},
      never_{never},
      tracked_{tracked} {
    if (tracked_) {
        ++on_->of->work_;
    }
}

executor::executor(executor const& other) noexcept
    : executor{*other.on_, other.never_, other.tracked_} {}

executor::executor(executor&& other) noexcept : executor{static_cast<executor const&>(other)} {}

executor& executor::operator=(executor const& other) noexcept {
    if (this != &other) {
        on_->of->work_ += tracked_ ? -1 : 0;
        on_ = other.on_;
        never_ = other.never_;
        tracked_ = other.tracked_;
        on_->of->work_ += tracked_ ? 1 : 0;
    }
    return *this;
}

executor& executor::operator=(executor&& other) noexcept {
    return *this = static_cast<executor const&>(other);
}

executor::~executor() {
    if (tracked_) {
        --on_->of->work_;
    }
}

asio::execution_context& executor::query(asio::execution::context_t) const noexcept {
    return *on_->of;
}

// Processes

namespace {

// No client waits for an answer for a shorter time.
constexpr nanos shortest_timeout = 100ms;

}  // namespace

process::request_ref process::on_request() {
    // The next request may follow an answer at once.
    if (requests_ == 0 && answered_at_ != in_.now()) {
        requests_since_ = in_.now();
    }
    ++requests_;
    return sent_.insert(sent_.end(), {in_.now()});
}

// What is answered in time ends the silence that began before it was sent.
void process::on_answered(request_ref which) noexcept {
    auto const now = in_.now();
    if (--requests_ == 0) {
        answered_at_ = now;
    }
    if (now - which->at >= shortest_timeout) {
        return;  // it is remembered
    }
    for (auto& each : sent_) {
        if (each.at < which->at) {
            each.answered_later = std::min(each.answered_later, now);
        }
    }
    sent_.erase(which);
}

bool process::had_no_answer(nanos from, nanos to, nanos at) const noexcept {
    return std::any_of(sent_.begin(), sent_.end(), [&](auto const& each) {
        return from <= each.at && each.at <= to && at <= each.answered_later &&
               in_.now() - each.at >= shortest_timeout;
    });
}

bool process::waits_for_answer(nanos from, nanos so_long) const noexcept {
    return std::any_of(sent_.begin(), sent_.end(), [&](auto const& each) {
        return each.at >= from && in_.now() - each.at >= so_long;
    });
}

nanos process::unanswered_since() const noexcept {
    bool const waits = requests_ > 0 || answered_at_ == in_.now();
    return waits ? requests_since_ : in_.now();
}

void process::on_connects() noexcept {
    connects_at_ = in_.now();
    ++connecting_;
}

void process::on_connected() noexcept {
    --connecting_;
    connected_at_ = in_.now();
}

bool process::is_connecting(nanos longest_pause) const noexcept {
    constexpr auto longest_handshake = 100ms;
    return connecting_ > 0 || in_.now() - connected_at_ <= longest_handshake ||
           in_.now() - not_connected_at_ <= longest_pause;
}

void process::on_not_connected() noexcept {
    --connecting_;
    not_connected_at_ = in_.now();
}

void process::on_connection_lost() noexcept {
    if (in_.now() - unanswered_since() >= shortest_timeout) {
        given_up_at_ = in_.now();
    }
}

process::process(world& in, std::uint32_t number, double rate)
    : in_{in},
      number_{number},
      rate_{rate},
      offset_{std::chrono::hours{1 + static_cast<int>(in.dice().below(1000))}} {}

process::~process() {
    dying_ = true;
    view_of const view{*this};
    // Handlers own other handlers' owners; services drop what they keep.
    auto const drop = [this] {
        for (bool again = true; again;) {
            again = false;
            for (auto const& one : lanes_) {
                auto const dropped = std::exchange(one->ready, {});
                again = again || !dropped.empty();
            }
            while (!timers_.empty()) {
                auto const waiting = timers_.back();
                remove(*waiting);
                ++waiting->generation;
                auto const dropped = std::exchange(waiting->handler, {});
                auto const others = std::exchange(waiting->others, {});
                again = true;
            }
        }
    };
    while (!keepers_.empty()) {
        auto* const one = keepers_.back();
        keepers_.pop_back();
        one->drop();
    }
    shutdown();
    drop();
    destroy();
    drop();
    for (auto const& one : lanes_) {
        in_.unlist(*one);
    }
}

lane& process::new_lane() {
    lanes_.push_back(std::make_unique<lane>(
        lane{this, static_cast<std::uint32_t>(lanes_.size()), {}, false, 0ns, false, 0}
    ));
    return *lanes_.back();
}

nanos process::clock() const noexcept {
    return offset_ + nanos{static_cast<std::int64_t>(
                         std::llround(static_cast<double>(in_.now().count()) * rate_)
                     )};
}

nanos process::true_time_of(nanos clock) const noexcept {
    // Rounded up: at that time the clock says so.
    return nanos{static_cast<std::int64_t>(
               std::ceil(static_cast<double>((clock - offset_).count()) / rate_)
           )} +
           1ns;
}

nanos process::steady() const noexcept {
    return (suspended_at_ >= 0ns ? suspended_at_ : clock()) - slept_;
}

void process::pause() {
    paused_ = true;
    relist();
}

void process::suspend() {
    if (suspended_at_ < 0ns) {
        suspended_at_ = clock();
    }
    pause();
}

void process::resume() {
    if (!paused_) {
        return;
    }
    paused_ = false;
    freed_.push_back(in_.now());
    if (suspended_at_ >= 0ns) {
        auto const slept = clock() - suspended_at_;
        slept_ += slept;
        suspended_at_ = -1ns;
        catch_up(slept);
    }
    relist();
}

// As the timers of the library: they look at the clock that went on at least once a second.
void process::catch_up(nanos slept) {
    constexpr nanos longest_sleep = 1s;
    late_until_ = true_time_of(clock() + longest_sleep);
    for (auto* const each : timers_) {
        auto const due = std::max(each->due - slept, steady() + longest_sleep);
        if (due < each->due) {
            each->due = due;
            ++each->generation;
            arm(each->shared_from_this());
        }
    }
}

void process::block(lane& which) {
    if (!std::exchange(which.blocked, true)) {
        which.blocked_since = in_.now();
    }
    relist();
}

void process::unblock(lane& which) {
    which.blocked = false;
    freed_.push_back(in_.now());
    relist();
}

bool process::any_lane_blocked() const noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(), [](auto const& one) { return one->blocked; });
}

void process::relist() {
    for (auto const& one : lanes_) {
        if (paused_ || one->blocked || one->ready.empty()) {
            in_.unlist(*one);
        } else {
            in_.list(*one);
        }
    }
}

bool process::idle() const noexcept {
    return timers_.empty() && std::all_of(lanes_.begin(), lanes_.end(), [](auto const& one) {
               return one->ready.empty();
           });
}

void process::enqueue(lane& on, task what) {
    own_business const own;
    on.ready.push_back(std::move(what));
    if (!paused_ && !on.blocked) {
        in_.list(on);
    }
}

void process::add(waiting_timer& waiting) {
    own_business const own;
    waiting.place = timers_.size();
    timers_.push_back(&waiting);
}

void process::remove(waiting_timer& waiting) noexcept {
    timers_.back()->place = waiting.place;
    timers_[waiting.place] = timers_.back();
    timers_.pop_back();
}

void process::arm(std::shared_ptr<waiting_timer> const& waiting) {
    own_business const own;
    // While the machine is suspended its clock stands still: what is due in a moment stays so.
    auto const least = suspended_at_ >= 0ns ? nanos{1ms} : 0ns;
    auto const left = std::max(waiting->due - steady(), least);
    auto const when = true_time_of(clock() + left);
    in_.wake_at(when, waiting);
}

void process::on_due(std::shared_ptr<waiting_timer> const& waiting) {
    // The machine was suspended meanwhile.
    if (waiting->due > steady()) {
        arm(waiting);
        return;
    }
    remove(*waiting);
    ++waiting->generation;
    waiting->post(error_code{});
}

}  // namespace holdfast::sim
