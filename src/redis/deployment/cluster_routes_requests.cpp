// Which node a request goes to, and what follows when that names another one.

#include "redis/deployment/cluster_routes.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace holdfast::detail {

namespace {

using purpose = connection_id::purpose;

void answer(exec_handler& handler, exec_status status, error_code cause) {
    std::exchange(handler, {})(exec_result{status, cause, {}});
}

void answer(replicated_handler& handler, exec_status status, error_code cause) {
    std::exchange(handler, {})(exec_result{status, cause, {}}, 0);
}

}  // namespace

void cluster_routes::exec(call&& what, exec_handler&& handler) {
    auto to = what.keys() > 0 ? server_of(what.slot()) : map_.any_primary();
    if (stopped_ || !nodes_ || !to) {
        auto const cause = stopped_ ? make_error_code(errc::client_stopped) : why_down().cause;
        asio::post(common_.strand, [handler = std::move(handler), cause]() mutable {
            answer(handler, exec_status::not_sent, cause);
        });
        return;
    }
    nodes_->exec(
        *to,
        map_.address(*to),
        routed_call{.what = std::move(what), .handler = std::move(handler)}
    );
}

void cluster_routes::exec_replicated(
    call&& what,
    replication const& wanted,
    replicated_handler&& handler
) {
    auto const to = server_of(what.slot());
    if (stopped_ || !nodes_ || !to) {
        auto const cause = stopped_ ? make_error_code(errc::client_stopped) : why_down().cause;
        asio::post(common_.strand, [handler = std::move(handler), cause]() mutable {
            answer(handler, exec_status::not_sent, cause);
        });
        return;
    }
    nodes_->exec(
        *to,
        map_.address(*to),
        replicated_call{
            .what = std::move(what),
            .handler = std::move(handler),
            .count = wanted.count,
            .give_up_at = lease_clock::now() + wanted.timeout,
        }
    );
}

std::uint32_t cluster_routes::target_of(std::uint32_t server, redirection const& where) {
    auto const& host = where.host.empty() ? map_.address(server).host : where.host;
    return map_.number_of({host, where.port});
}

void cluster_routes::on_slot_moved(std::uint32_t server, std::uint16_t slot, std::uint32_t to) {
    // mutant: moved-slot-forgotten
    map_.on_moved(slot, to);
    open(to);
    on_map_changed();
    // One that is not connected to yet says which slots it has when it is.
    ask_for_slots(nodes_->usable(to) ? to : server);
}

bool cluster_routes::may_be_new(std::uint32_t server, nanos longest_request) const {
    if (common_.settings->lock_delay <= millis{0}) {
        return false;
    }
    auto const* const one = nodes_->find(server);
    // One that was up when the request was sent elsewhere was a primary, and no replica of that.
    auto const longest = std::max<nanos>(longest_request, common_.settings->replicas.timeout);
    return !one || !one->up(purpose::commands) || lease_clock::now() - one->up_since() < longest;
}

// It is sent on at once. What has the same slot and is sent later goes there without being told.
template <class Call>
void cluster_routes::redirect(std::uint32_t server, redirection const& where, Call&& what) {
    auto const refuse = [this](Call&& refused) {
        later([what = std::make_shared<Call>(std::move(refused))] {
            answer(what->handler, exec_status::refused, errc::server_refused);
        });
    };
    bool const too_late = what.give_up_at != time_point{} && what.give_up_at <= lease_clock::now();
    if (stopped_ || too_late || ++what.redirections > most_redirections) {
        refuse(std::move(what));
        return;
    }
    auto const to = target_of(server, where);
    if (!where.ask) {
        on_slot_moved(server, where.slot, to);
        if (may_be_new(to, what.what.timeout())) {
            // Who asks again is told by then for how long no lock is granted there.
            refuse(std::move(what));
            return;
        }
    }
    what.asking = where.ask;
    nodes_->exec(to, map_.address(to), std::move(what));
}

void cluster_routes::on_redirected(
    std::uint32_t server,
    redirection const& where,
    routed_call&& what
) {
    redirect(server, where, std::move(what));
}

void cluster_routes::on_redirected(
    std::uint32_t server,
    redirection const& where,
    replicated_call&& what
) {
    redirect(server, where, std::move(what));
}

}  // namespace holdfast::detail
