#include "redis/deployment/cluster_nodes.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

void answer(routed_call& what, error_code cause) {
    std::exchange(what.handler, {})(exec_result{exec_status::not_sent, cause, {}});
}

// A server of a cluster is as the others are, but for where it listens.
std::shared_ptr<config const> settings_of(config const& all, config::address const& where) {
    auto own = std::make_shared<config>(all);
    own->host = where.host;
    own->port = where.port;
    own->unix_socket.clear();
    return own;
}

}  // namespace

cluster_nodes::cluster_nodes(
    server_context common,
    backend_events& events,
    std::function<void(std::function<void()>)> later
)
    : common_{std::move(common)},
      events_{events},
      later_{std::move(later)},
      timer_{common_.strand} {}

cluster_nodes::~cluster_nodes() = default;

server& cluster_nodes::open(std::uint32_t number, config::address const& where) {
    auto at = nodes_.find(number);
    if (at == nodes_.end()) {
        auto own = common_;
        own.settings = settings_of(*common_.settings, where);
        own.number = number;
        node made;
        made.link = std::make_unique<server>(std::move(own), events_);
        at = nodes_.emplace(number, std::move(made)).first;
    }
    at->second.used_at = lease_clock::now();
    // It does nothing more where that was done.
    at->second.link->start();
    return *at->second.link;
}

server* cluster_nodes::find(std::uint32_t number) const noexcept {
    auto const at = nodes_.find(number);
    return at == nodes_.end() ? nullptr : at->second.link.get();
}

bool cluster_nodes::usable(std::uint32_t number) const noexcept {
    auto const* const one = find(number);
    return one && one->up(connection_id::purpose::commands);
}

bool cluster_nodes::within_reach(std::uint32_t number) const noexcept {
    auto const* const one = find(number);
    return one && (one->up(connection_id::purpose::commands) || !one->why_down().cause);
}

server* cluster_nodes::any_usable(std::uint32_t preferred, std::uint32_t& number) const noexcept {
    number = preferred;
    if (usable(preferred)) {
        return find(preferred);
    }
    for (auto const& [each, one] : nodes_) {
        if (one.link->up(connection_id::purpose::commands)) {
            number = each;
            return one.link.get();
        }
    }
    return nullptr;
}

server* cluster_nodes::any_usable_but(std::uint32_t not_this, std::uint32_t& number)
    const noexcept {
    for (auto const& [each, one] : nodes_) {
        if (each != not_this && one.link->up(connection_id::purpose::commands)) {
            number = each;
            return one.link.get();
        }
    }
    return nullptr;
}

std::vector<std::uint32_t> cluster_nodes::numbers() const {
    std::vector<std::uint32_t> all;
    for (auto const& [number, one] : nodes_) {
        all.push_back(number);
    }
    return all;
}

void cluster_nodes::exec(std::uint32_t number, config::address const& where, routed_call&& what) {
    auto& to = open(number, where);
    if (to.up(connection_id::purpose::commands) || to.was_up()) {
        to.exec(std::move(what));
    } else {
        wait(nodes_.at(number), std::move(what));
    }
}

void cluster_nodes::exec(
    std::uint32_t number,
    config::address const& where,
    replicated_call&& what
) {
    open(number, where).exec_replicated(std::move(what));
}

void cluster_nodes::wait(node& on, routed_call&& what) {
    if (what.give_up_at == time_point{}) {
        what.give_up_at = lease_clock::now() + what.what.timeout();
    }
    auto const at = what.give_up_at;
    on.waiting.push_back(std::move(what));
    arm(at);
}

void cluster_nodes::on_up(std::uint32_t number) {
    auto const at = nodes_.find(number);
    if (at == nodes_.end()) {
        return;
    }
    // A caller that waited for this node needs it now.
    at->second.used_at = lease_clock::now();
    auto& to = *at->second.link;
    for (auto& one : std::exchange(at->second.waiting, {})) {
        if (one.what.is_withdrawn()) {
            later_([what = std::make_shared<routed_call>(std::move(one))] {
                answer(*what, asio::error::operation_aborted);
            });
        } else {
            to.exec(std::move(one));
        }
    }
}

void cluster_nodes::arm(time_point at) {
    if (at >= armed_for_) {
        return;
    }
    sleep_until(timer_, at);
    timer_.async_wait([this, later = later_](error_code ec) {
        if (!ec) {
            later([this] { give_up(lease_clock::now()); });
        }
    });
    armed_for_ = at;
}

void cluster_nodes::give_up(time_point now) {
    armed_for_ = time_point::max();
    auto next = time_point::max();
    std::vector<std::pair<routed_call, error_code>> overdue;
    for (auto& [number, one] : nodes_) {
        auto const cause = one.link->why_down().cause;
        for (auto& each : std::exchange(one.waiting, {})) {
            if (each.give_up_at <= now) {
                overdue.emplace_back(
                    std::move(each),
                    cause ? cause : make_error_code(errc::unreachable)
                );
            } else {
                next = std::min(next, each.give_up_at);
                one.waiting.push_back(std::move(each));
            }
        }
    }
    if (next != time_point::max()) {
        arm(next);
    }
    for (auto& [what, cause] : overdue) {
        answer(what, cause);
    }
}

void cluster_nodes::close(std::uint32_t number) {
    auto gone = nodes_.extract(number);
    if (gone.empty()) {
        return;
    }
    gone.mapped().link->stop();
    events_.on_closed(number);
    auto const waiting =
        std::make_shared<std::vector<routed_call>>(std::move(gone.mapped().waiting));
    later_([waiting] {
        for (auto& one : *waiting) {
            answer(one, errc::unreachable);
        }
    });
}

bool cluster_nodes::close_unused(
    nanos idle_after,
    std::function<bool(std::uint32_t)> const& wanted
) {
    bool left = false;
    auto const now = lease_clock::now();
    for (auto const number : numbers()) {
        auto const& one = nodes_.at(number);
        if (!wanted(number)) {
            if (idle(one)) {
                close(number);
            } else {
                left = true;
            }
            continue;
        }
        bool const last = std::none_of(nodes_.begin(), nodes_.end(), [&](auto const& other) {
            return other.first != number && wanted(other.first) &&
                   other.second.link->up(connection_id::purpose::commands);
        });
        bool const up = one.link->up(connection_id::purpose::commands);
        if (!last && up && idle(one) && now - one.used_at >= idle_after) {
            close(number);
        }
    }
    return left;
}

void cluster_nodes::stop() {
    timer_.cancel();
    for (auto& [number, one] : nodes_) {
        one.link->stop();
        for (auto& each : std::exchange(one.waiting, {})) {
            asio::post(common_.strand, [what = std::make_shared<routed_call>(std::move(each))] {
                answer(*what, errc::client_stopped);
            });
        }
    }
}

}  // namespace holdfast::detail
