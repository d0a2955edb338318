#include <holdfast/semaphore.hpp>

#include "client/client_state.hpp"
#include "client/semaphore_requests.hpp"
#include "protocol/semaphore.hpp"

#include <memory>
#include <utility>

namespace holdfast {

semaphore::semaphore(std::shared_ptr<detail::client_state> client, std::string_view name)
    : client_{std::move(client)},
      key_{client_->checked(
          detail::make_semaphore_target(client_->settings().key_prefix, name),
          name
      )} {}

semaphore semaphore::permits(std::int64_t count) const {
    return {client_, std::make_shared<detail::target const>(detail::with_permits(*key_, count))};
}

semaphore semaphore::limit(std::int64_t count) const {
    return {client_, std::make_shared<detail::target const>(detail::with_limit(*key_, count))};
}

namespace detail {

void start_inspect_semaphore(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    semaphore_inspect_handler handler
) {
    inspect_semaphore(std::move(client), std::move(key), std::move(handler));
}

void start_count_available(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    available_handler handler
) {
    count_available(std::move(client), std::move(key), std::move(handler));
}

void start_try_set_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t limit,
    set_permits_handler handler
) {
    try_set_permits(std::move(client), std::move(key), limit, std::move(handler));
}

}  // namespace detail
}  // namespace holdfast
