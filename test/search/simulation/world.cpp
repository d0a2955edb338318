#include "simulation/world.hpp"

#include "simulation/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace holdfast::sim {

namespace {

thread_local world* current_world = nullptr;

}  // namespace

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

bool world::event::cancelled() const noexcept {
    return timer && (timer->generation != generation || !timer->handler);
}

void world::wake_at(nanos when, std::shared_ptr<waiting_timer> const& waiting) {
    own_business const own;
    site const on{waiting->of->number(), nullptr};
    push_event({when, 0, {}, on, waiting, waiting->generation});
}

void world::push_event(nanos when, task what, site on) {
    own_business const own;
    push_event({when, 0, std::move(what), on, {}});
}

void world::push_event(event made) {
    made.when = std::max(made.when, now_);
    made.order = ++next_order_;
    if (!chooser_) {
        // Events of one instant happen in any order.
        made.order |= dice_.next() & 0xffff'0000'0000'0000U;
    }
    events_.push_back(std::move(made));
    std::push_heap(events_.begin(), events_.end(), later{});
}

// The place of the event that happens next: the first one, or one that is due in the same instant
// and would find another world after it.
std::size_t world::choose_event() {
    auto const& first = events_.front();
    auto const end = first.when + same_instant;
    if (!chooser_ || !first.changes_something()) {
        return 0;
    }
    std::vector<std::size_t> due;
    for (std::size_t i = 0; i < events_.size(); ++i) {
        if (events_[i].when <= end && !events_[i].cancelled()) {
            due.push_back(i);
        }
    }
    std::sort(due.begin(), due.end(), [this](std::size_t a, std::size_t b) {
        return later{}(events_[b], events_[a]);
    });
    std::vector<void const*> streams;
    std::vector<std::size_t> eligible;
    for (auto const i : due) {
        auto const& on = events_[i].on;
        bool const behind = on.stream && std::count(streams.begin(), streams.end(), on.stream) > 0;
        streams.push_back(on.stream);
        if (i == 0 || (!behind && on.conflicts_with(first.on))) {
            eligible.push_back(i);
        }
    }
    return eligible[choose(eligible.size(), choice::event)];
}

world::event world::pop_event() {
    auto const which = choose_event();
    if (which == 0) {
        std::pop_heap(events_.begin(), events_.end(), later{});
    } else {
        std::swap(events_[which], events_.back());
    }
    auto next = std::move(events_.back());
    events_.pop_back();
    if (which != 0) {
        std::make_heap(events_.begin(), events_.end(), later{});
    }
    return next;
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

// Threads of different processes do not meet within an instant: where all orders are searched, one
// process goes on until nothing of it is ready.
lane& world::choose_lane() {
    if (!chooser_) {
        return *runnable_[dice_.below(runnable_.size())];
    }
    std::vector<lane*> of_one;
    std::copy_if(runnable_.begin(), runnable_.end(), std::back_inserter(of_one), [this](lane* one) {
        return one->of == runnable_.front()->of;
    });
    return *of_one[choose(of_one.size(), choice::lane)];
}

nanos world::next_change() const noexcept {
    auto next = nanos::max();
    for (auto const& one : events_) {
        if (one.changes_something()) {
            next = std::min(next, one.when);
        }
    }
    return next;
}

void world::run_one() {
    ++changes_;
    auto& on = choose_lane();
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
    auto next = pop_event();
    if (next.cancelled()) {
        return true;
    }
    changes_ += next.changes_something() ? 1 : 0;
    now_ = std::max(now_, next.when);
    own_business const own;
    if (next.timer) {
        next.timer->of->on_due(next.timer);
    } else {
        next.what();
    }
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
    // Eight bytes at a time.
    while (!what.empty()) {
        std::uint64_t part = what.size();
        std::memcpy(&part, what.data(), std::min(what.size(), sizeof part));
        mark(part);
        what.remove_prefix(std::min(what.size(), sizeof part));
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
