#include <holdfast/lock.hpp>

#include "acquire/acquire_op.hpp"
#include "client/client_state.hpp"
#include "client/inspect.hpp"
#include "protocol/lock.hpp"
#include "protocol/one_slot.hpp"
#include "protocol/primitive.hpp"
#include "runtime/recycling_allocator.hpp"

#include <algorithm>
#include <utility>

namespace holdfast {

lock::lock(std::shared_ptr<detail::client_state> client, std::string_view name)
    : named_lock<lock>{
          client,
          std::make_shared<detail::target const>(detail::allowed_by(
              client->settings(),
              detail::make_lock_target(client->settings().key_prefix, name)
          ))
      } {}

namespace detail {

std::string const& name_of(target const& key) noexcept {
    return key.lock;
}

asio::any_io_executor const& executor_of(client_state const& client) noexcept {
    return client.executor();
}

void start_acquire(acquire_request request, asio::any_io_executor holder, acquire_handler handler) {
    auto const client = std::move(request.client);
    if (client->gone()) {
        return;
    }
    pending_handler<error_code, lease> waiting{std::move(handler), client->executor()};
    acquire_op::request what{
        .on = std::move(request.key),
        .terms = {},
        .how_long = request.how_long,
        .limit = request.limit,
        .who = request.options.owner,
        .orphan_after = request.options.orphan_after,
    };
    auto options = request.options;
    if (!what.on->speaks->leases()) {
        // Its end does not free what was granted. It is given back however late that is.
        options.lease = max_lease;
    }
    error_code wrong = what.on->valid() ? make_terms(client->settings(), options, what.terms)
                                        : make_error_code(errc::invalid_name);
    if (!wrong && (what.limit < nanos{0} || what.on->permits == 0)) {
        wrong = errc::invalid_options;
    }
    if (!wrong) {
        what.terms.renew_after =
            std::min(what.terms.renew_after, what.on->speaks->renewed_within());
    }
    if (wrong) {
        waiting.complete(wrong, lease{});
        return;
    }
    auto const op = make_recycled<acquire_op>(
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
