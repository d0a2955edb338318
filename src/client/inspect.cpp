#include "client/inspect.hpp"

#include "client/client_state.hpp"
#include "core/lease_terms.hpp"
#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

error_code cause_of(exec_result const& result) {
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

}  // namespace

void inspect(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    inspect_handler handler
) {
    ask<lock_info>(
        std::move(client),
        std::move(on),
        std::move(handler),
        [](client_state& by, target const& asked, nanos timeout) {
            return asked.speaks->inspect(asked, timeout, by.hands_over());
        },
        [](script_reply const& reply, lock_info& info, client_state& from, target const& of
        ) -> error_code {
            auto read = of.speaks->read_inspect(reply);
            if (read.what == lock_reading::kind::corrupt) {
                return errc::corrupt_state;
            }
            info.held = read.what == lock_reading::kind::held;
            info.never_expires = info.held && !read.remaining;
            info.remaining = read.remaining;
            info.holder = std::move(read.holder);
            info.hold_count = read.hold_count;
            info.last_token.value = read.last_token;
            info.readers = static_cast<std::size_t>(read.readers);
            info.waiting_clients = static_cast<std::size_t>(read.waiting);
            info.local_waiters = from.acquires().waiters_of(of);
            return {};
        }
    );
}

void force_release(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    force_handler handler
) {
    ask<bool>(
        std::move(client),
        std::move(on),
        std::move(handler),
        [](client_state& by, target const& asked, nanos timeout) {
            auto const patience = by.settings().waiter_patience;
            return asked.speaks->force_release(asked, timeout, patience);
        },
        [](script_reply const& reply, bool& freed, client_state& from, target const& of
        ) -> error_code {
            auto const read = of.speaks->read_force_release(reply);
            if (read.what == force_release_reply::kind::corrupt) {
                return errc::corrupt_state;
            }
            freed = read.what == force_release_reply::kind::freed;
            if (freed) {
                from.acquires().on_freed(of, read.notified);
            }
            return {};
        }
    );
}

}  // namespace holdfast::detail
