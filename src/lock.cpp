#include <holdfast/lock.hpp>

#include "core/key_names.hpp"
#include "ops/acquire_op.hpp"
#include "ops/client_state.hpp"

#include <utility>

namespace holdfast {

lock::lock(std::shared_ptr<detail::client_state> client, std::string_view name)
    : client_{std::move(client)},
      key_{std::make_shared<detail::key_names const>(
          detail::make_key_names(client_->settings().key_prefix, name)
      )} {}

std::string const& lock::name() const noexcept {
    return key_->lock;
}

namespace detail {

asio::any_io_executor executor_of(client_state const& client) noexcept {
    return client.executor();
}

void start_acquire(acquire_request request, asio::any_io_executor holder, acquire_handler handler) {
    pending_handler<error_code, lease> waiting{std::move(handler), request.client->executor()};
    lease_terms terms;
    error_code wrong = request.key->valid()
                           ? make_terms(request.client->settings(), request.options, terms)
                           : make_error_code(errc::invalid_name);
    if (!wrong && request.limit < nanos{0}) {
        wrong = errc::invalid_options;
    }
    if (wrong) {
        waiting.complete(wrong, lease{});
        return;
    }
    auto const client = request.client;
    auto const op = std::make_shared<acquire_op>(
        std::move(request),
        terms,
        std::move(holder),
        std::move(waiting)
    );
    op->accept_cancellation();
    client->enter_strand([op] { op->start(); });
}

}  // namespace detail
}  // namespace holdfast
