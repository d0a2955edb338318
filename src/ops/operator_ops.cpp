// `inspect` and `force_release`: one request and its answer, for operators.

#include "core/key_names.hpp"
#include "ops/client_state.hpp"
#include "redis/scripts.hpp"

#include <holdfast/lock.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace holdfast::detail {

namespace {

error_code cause_of(exec_result const& result) {
    if (result.status == exec_status::replied) {
        return {};
    }
    return result.error ? result.error : make_error_code(errc::unreachable);
}

std::uint64_t number_in(std::string const& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

error_code read_lock_info(script_reply const& reply, lock_info& info) {
    constexpr std::int64_t not_a_lock = -3;
    constexpr std::int64_t is_free = -2;
    auto const remaining = reply.integer(0, not_a_lock);
    if (remaining == not_a_lock) {
        return errc::corrupt_state;
    }
    info.last_token.value = number_in(reply.text(1));
    if (remaining == is_free) {
        return {};
    }
    info.held = true;
    info.never_expires = remaining == -1;
    if (remaining >= 0) {
        info.remaining = millis{remaining};
    }
    info.holder = reply.text(2);
    info.hold_count = number_in(reply.text(3));
    return {};
}

/// Sends `what` on the client's strand once there is a connection, or gives up after a request
/// time-out.
template <class Result, class Read>
void ask(
    std::shared_ptr<client_state> client,
    std::shared_ptr<key_names const> key,
    script const& what,
    std::string key_names::* second,
    asio::any_completion_handler<void(error_code, Result)> handler,
    Read read
) {
    auto const waiting = std::make_shared<pending_handler<error_code, Result>>(
        std::move(handler),
        client->executor()
    );
    if (!key->valid()) {
        waiting->complete(errc::invalid_name, Result{});
        return;
    }
    abort_on_cancel(waiting, client);
    client->when_connected([client, key, &what, second, waiting, read](error_code ec) {
        if (ec) {
            waiting->complete(ec, Result{});
            return;
        }
        std::array<std::string_view, 2> const keys{key->lock, (*key).*second};
        auto const timeout = request_timeout_for(client->settings(), client->settings().lease);
        client->exec(what, keys, {}, timeout, [client, key, waiting, read](exec_result result) {
            Result value{};
            auto cause = cause_of(result);
            if (!cause) {
                cause = read(result.reply, value, *client, *key);
            }
            waiting->complete(cause, std::move(value));
        });
    });
}

}  // namespace

void start_inspect(
    std::shared_ptr<client_state> client,
    std::shared_ptr<key_names const> key,
    inspect_handler handler
) {
    ask<lock_info>(
        std::move(client),
        std::move(key),
        scripts::inspect,
        &key_names::counter,
        std::move(handler),
        [](script_reply const& reply,
           lock_info& info,
           client_state const& from,
           key_names const& names) {
            info.local_waiters = from.rooms().waiters_of(names.lock);
            return read_lock_info(reply, info);
        }
    );
}

void start_force_release(
    std::shared_ptr<client_state> client,
    std::shared_ptr<key_names const> key,
    force_handler handler
) {
    ask<bool>(
        std::move(client),
        std::move(key),
        scripts::force_release,
        &key_names::channel,
        std::move(handler),
        [](script_reply const& reply, bool& freed, client_state& from, key_names const& names
        ) -> error_code {
            if (reply.integer(0) == 2) {
                return errc::corrupt_state;
            }
            freed = reply.integer(0) == 1;
            if (freed) {
                from.rooms().on_released(names, reply.integer(1) == 1);
            }
            return {};
        }
    );
}

}  // namespace holdfast::detail
