#include <holdfast/lock.hpp>

#include "acquire/acquire_op.hpp"
#include "acquire/lock_request.hpp"
#include "client/client_state.hpp"
#include "client/inspect.hpp"
#include "protocol/lock.hpp"

#include <utility>

namespace holdfast {

lock::lock(std::shared_ptr<detail::client_state> client, std::string_view name)
    : named_lock<lock>{
          client,
          client->checked(detail::make_lock_target(client->settings().key_prefix, name), name)
      } {}

namespace detail {

std::string const& name_of(target const& key) noexcept {
    return key.lock;
}

asio::any_io_executor const& executor_of(client_state const& client) noexcept {
    return client.executor();
}

void start_acquire(acquire_request request, asio::any_io_executor holder, acquire_handler handler) {
    auto const client = request.client;
    if (client->gone()) {
        return;
    }
    pending_handler<error_code, lease> waiting{std::move(handler), client->executor()};
    lock_request what;
    if (auto const wrong = make_lock_request(client->settings(), request, what)) {
        waiting.complete(wrong, lease{});
        return;
    }
    auto const op = std::make_shared<acquire_op>(
        client->acquires(),
        client,
        std::move(what),
        client->guard(std::move(holder)),
        std::move(waiting)
    );
    op->accept_cancellation();
    client->enter_strand([op] { op->start(); });
}

void start_inspect(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    inspect_handler handler
) {
    inspect(std::move(client), std::move(key), std::move(handler));
}

void start_force_release(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    force_handler handler
) {
    force_release(std::move(client), std::move(key), std::move(handler));
}

}  // namespace detail
}  // namespace holdfast
