// What an operator and a fault do to the server.

#include "protocol/lock.hpp"
#include "simulation/server.hpp"

#include <boost/asio/error.hpp>

#include <cstdlib>
#include <utility>

namespace holdfast::sim {

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
    auto const session = to.connect([](value) {});
    to.set_user("operator", {});
    to.execute(session, {"AUTH", "operator", "any"});
    auto answer = to.execute(session, command);
    to.disconnect(session);
    to.set_refusal(refused);
    return answer.value_or(value::nil());
}

// Faults

void server::pause() {
    paused_ = true;
    for (auto const& one : links()) {
        one->watch_health();
    }
}

void server::resume() {
    paused_ = false;
    // Those of closed connections too: their bytes are in the kernel.
    auto all = links_;
    while (!all.empty()) {
        auto const which = in_.dice().below(all.size());
        std::swap(all[which], all.back());
        auto const next = std::move(all.back());
        all.pop_back();
        on_bytes(*next);
    }
}

void server::kill() {
    up_ = false;
    for (auto const& one : links()) {
        one->close_by_server(asio::error::connection_reset);
    }
}

void server::start(bool keep_data) {
    kill();
    up_ = true;
    paused_ = false;
    data().restart(keep_data);
    ghost_ = data_.connect([](value) {});
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

void server::set_pings_fail(bool fail) {
    pings_fail_ = fail;
    if (fail) {
        for (auto const& one : links()) {
            one->watch_health();
        }
    }
}

}  // namespace holdfast::sim
