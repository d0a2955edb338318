#include "simulation/world.hpp"

#include "simulation/runtime.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace holdfast::sim {

namespace {

thread_local world* current_world = nullptr;

}  // namespace

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
        slept_ += clock() - suspended_at_;
        suspended_at_ = -1ns;
    }
    relist();
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
    auto const left = std::max(waiting->due - steady(), 0ns);
    auto const when = true_time_of(clock() + left);
    in_.at(when, [waiting, generation = waiting->generation] {
        if (waiting->generation != generation || !waiting->handler) {
            return;
        }
        auto& whose = *waiting->of;
        // The machine was suspended meanwhile.
        if (waiting->due > whose.steady()) {
            whose.arm(waiting);
            return;
        }
        whose.remove(*waiting);
        ++waiting->generation;
        waiting->handler.post(error_code{});
    });
}

// The world

world::world(std::uint64_t seed, bool traced)
    : dice_{seed},
      traced_{traced},
      outer_{std::exchange(current_world, this)} {}

world::~world() {
    current_world = outer_;
}

world& world::current() noexcept {
    return *current_world;
}

void world::push_event(nanos when, task what) {
    own_business const own;
    // Events of one instant happen in any order.
    auto const order = (dice_.next() & 0xffff'0000'0000'0000U) | (++next_order_);
    events_.push_back({std::max(when, now_), order, std::move(what)});
    std::push_heap(events_.begin(), events_.end(), later{});
}

void world::list(lane& which) {
    if (!which.listed) {
        which.listed = true;
        which.place = runnable_.size();
        runnable_.push_back(&which);
    }
}

void world::unlist(lane& which) noexcept {
    if (which.listed) {
        which.listed = false;
        runnable_.back()->place = which.place;
        runnable_[which.place] = runnable_.back();
        runnable_.pop_back();
    }
}

void world::run_one() {
    auto& on = *runnable_[dice_.below(runnable_.size())];
    auto const which = in_order_ ? 0 : dice_.below(on.ready.size());
    auto const at = on.ready.begin() + static_cast<std::ptrdiff_t>(which);
    auto next = std::move(*at);
    on.ready.erase(at);
    if (on.ready.empty()) {
        unlist(on);
    }
    mark((static_cast<std::uint64_t>(now_.count()) << 16U) ^ (on.of->number() << 8U) ^ on.number);
    within(on, [&next] { next(); });
}

bool world::step() {
    ++steps_;
    if (!runnable_.empty()) {
        run_one();
        return true;
    }
    if (events_.empty()) {
        return false;
    }
    std::pop_heap(events_.begin(), events_.end(), later{});
    auto next = std::move(events_.back());
    events_.pop_back();
    now_ = next.when;
    own_business const own;
    next.what();
    return true;
}

void world::run_until(nanos when) {
    while (!failed() && (!runnable_.empty() || (!events_.empty() && events_.front().when < when))) {
        step();
    }
    now_ = std::max(now_, when);
}

void world::violation(std::string text) {
    if (violation_.empty()) {
        trace(nullptr, "VIOLATION: " + text);
        violation_ = std::move(text);
    }
}

void world::mark(std::string_view what) noexcept {
    for (char const c : what) {
        mark(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
}

void world::trace(process const* who, std::string_view what) const {
    if (traced_) {
        auto const ms = static_cast<double>(now_.count()) / 1e6;
        auto const name = who ? fmt::format("p{}", who->number()) : std::string{"--"};
        fmt::print("{:12.3f} {:>3} {}\n", ms, name, what);
    }
}

}  // namespace holdfast::sim
