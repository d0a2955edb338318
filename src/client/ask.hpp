#ifndef HOLDFAST_CLIENT_ASK_HPP
#define HOLDFAST_CLIENT_ASK_HPP

#include "client/client_state.hpp"
#include "core/lease_terms.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <memory>
#include <utility>

namespace holdfast::detail {

[[nodiscard]] inline error_code cause_of(exec_result const& result) {
    if (result.status == exec_status::replied) {
        return {};
    }
    return result.error ? result.error : make_error_code(errc::unreachable);
}

/// Sends a call once there is a connection, and completes with what `read` makes of its reply.
template <class Result, class Make, class Read>
void ask(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    asio::any_completion_handler<void(error_code, Result)> handler,
    Make make,
    Read read
) {
    if (client->gone()) {
        return;
    }
    auto const waiting = std::make_shared<pending_handler<error_code, Result>>(
        std::move(handler),
        client->executor()
    );
    if (!on->valid()) {
        waiting->complete(errc::invalid_name, Result{});
        return;
    }
    abort_on_cancel<Result>(waiting, client);
    auto send = [client, on, waiting, make, read](error_code ec, std::shared_ptr<void> place) {
        if (ec) {
            waiting->complete(ec, Result{});
            return;
        }
        auto const& settings = client->settings();
        client->exec(
            make(*client, *on, request_timeout_for(settings, settings.lease)),
            [client, on, waiting, read, place = std::move(place)](exec_result result) {
                Result value{};
                auto cause = cause_of(result);
                if (!cause) {
                    cause = read(result.reply, value, *client, *on);
                }
                waiting->complete(cause, std::move(value));
            }
        );
    };
    client->on_strand([client, send = std::move(send)] {
        auto place = client->connecting().reserve();
        if (client->stopping()) {
            send(errc::client_stopped, {});
        } else if (!place) {
            send(errc::too_many_waiters, {});
        } else {
            client->connecting().add([send, place = std::move(place)](error_code ec) {
                send(ec, place);
            });
        }
    });
}

}  // namespace holdfast::detail

#endif
