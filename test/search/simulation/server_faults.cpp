// What an operator and a fault do to the server.

#include "protocol/lock.hpp"
#include "simulation/server.hpp"

#include <boost/asio/error.hpp>

#include <cstdlib>
#include <utility>

namespace holdfast::sim {

void server::disarm() {
    twice_.reset();
    break_after_.reset();
    break_before_.reset();
    grant_fault_ = grant_fault::none;
    for (auto const& one : machines_) {
        one->refusals.clear();
    }
}

std::vector<queue_entry> server::queue_of(std::string_view lock) {
    auto const target = detail::make_lock_target({}, lock);
    std::vector<queue_entry> queue;
    if (!data().exists(target.queue())) {
        return queue;
    }
    auto const all = as_operator({"ZRANGE", target.queue(), "0", "-1", "WITHSCORES"});
    for (std::size_t i = 0; i + 1 < all.elements.size(); i += 2) {
        auto const& entry = all.elements[i].text;
        auto const end = entry.rfind(' ');
        queue.push_back(
            {end == entry.npos ? std::string{} : entry.substr(0, end),
             std::strtod(all.elements[i + 1].text.c_str(), nullptr)}
        );
    }
    return queue;
}

value server::as_operator(std::initializer_list<std::string_view> command) {
    auto& to = data();
    auto const refused = to.current_refusal();
    to.set_refusal(refusal::none);
    auto& session = primary_->by_operator;
    auto answer = session != 0 ? to.execute(session, command) : std::nullopt;
    if (!answer) {
        // Not yet, or not since the server was started again.
        session = to.connect_there();
        to.obey(session);
        to.set_user("operator", {});
        to.execute(session, {"HELLO", "2", "AUTH", "operator", "any"});
        answer = to.execute(session, command);
    }
    to.set_refusal(refused);
    note_writes(*primary_);
    return answer.value_or(value::nil());
}

// Faults

void server::pause(machine& which) {
    which.paused = true;
    for (auto const& one : links()) {
        if (&one->at() == &which) {
            one->watch_health();
        }
    }
}

void server::resume(machine& which) {
    which.paused = false;
    // Those of closed connections too: their bytes are in the kernel.
    auto all = which.links;
    while (!all.empty()) {
        auto const next_one = in_.dice().below(all.size());
        std::swap(all[next_one], all.back());
        auto const next = std::move(all.back());
        all.pop_back();
        on_bytes(*next);
    }
}

void server::kill(machine& which) {
    if (which.up) {
        which.down_since = in_.now();
    }
    which.up = false;
    for (auto const& one : links()) {
        if (&one->at() == &which) {
            one->close_by_server(asio::error::connection_reset);
        }
    }
}

void server::start(machine& which, bool keep_data) {
    kill(which);
    which.up = true;
    which.paused = false;
    data_of(which).restart(keep_data);
    which.ghost = which.data.connect_there();
    new_process(which);
    restarted_ = true;
}

void server::stall(std::uint32_t whose, direction which, bool on) {
    auto& route = route_of(whose);
    (which == direction::to_server ? route.stalled_to_server : route.stalled_to_client) = on;
    if (on) {
        for (auto const& one : links()) {
            if (one->of() == whose) {
                one->watch_health();
            }
        }
        return;
    }
    for (auto& held : std::exchange(route.held(which), {})) {
        held();
    }
}

void server::set_pings_fail(machine& which, bool fail) {
    which.pings_fail = fail;
    if (fail) {
        for (auto const& one : links()) {
            if (&one->at() == &which) {
                one->watch_health();
            }
        }
    }
}

}  // namespace holdfast::sim
