// How the data come to a replica, and what it means to be the primary.

#include "simulation/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

// A replica that is further behind is none that anybody would promote.
constexpr std::size_t most_behind = 24;

}  // namespace

machine& server::add(std::string host, std::uint16_t port, bool is_sentinel) {
    auto& made = machines_.emplace_back(std::make_unique<machine>());
    made->number = static_cast<std::uint32_t>(machines_.size() - 1);
    made->host = std::move(host);
    made->port = port;
    made->is_sentinel = is_sentinel;
    return *made;
}

void server::tell_apart() {
    told_apart_ = true;
    for (auto const& one : machines_) {
        new_process(*one, std::chrono::hours{1});
    }
}

void server::replicate() {
    replicates_ = true;
    told_apart_ = true;
    for (auto const& one : machines_) {
        if (!one->is_sentinel) {
            new_process(*one);
            one->data.set_replica(one.get() != primary_);
        }
    }
    written_.push_back(data().copy_data());
}

// Each process has a run id of its own. Servers that are not told apart have none.
void server::new_process(machine& which, std::chrono::seconds age) {
    if (told_apart_) {
        auto const began = wall_clock_of(which) - std::chrono::microseconds{age}.count();
        which.data.set_process(fmt::format("run-{}", ++processes_), began);
        which.began_at = in_.now() - age;
        which.offset_then = which.clock_offset;
    }
}

void server::note_writes(machine const& at) {
    if (!replicates_ || !counts(at)) {
        return;
    }
    written_.push_back(at.data.copy_data());
    ++writes_;
    if (written_.size() > most_behind) {
        written_.pop_front();
    }
}

// The one that would take its place.
bool server::has_replica(machine const& at) const {
    return replicates_ && &at == primary_ &&
           std::any_of(machines_.begin(), machines_.end(), [](auto const& one) {
               return one->up && !one->paused && !one->is_sentinel && one->data.is_replica();
           });
}

void server::promote(machine& to, std::size_t behind) {
    auto const last = written_.size() - 1;
    auto const unconfirmed = static_cast<std::size_t>(writes_ - confirmed_);
    auto const what = written_[last - std::min({behind, last, unconfirmed})];
    if (truth_) {
        promote_node(to, what);
    } else {
        data_of(to).set_data(what);
    }
    to.data.set_replica(false);
    primary_ = &to;
    ++promotions_;
    confirmed_ = writes_;
    written_.assign(1, to.data.copy_data());
}

void server::demote(machine& old) {
    if (&old != primary_) {
        old.data.set_replica(true);
        tell(old);
    }
}

}  // namespace holdfast::sim
