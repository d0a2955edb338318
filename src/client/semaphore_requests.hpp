#ifndef HOLDFAST_CLIENT_SEMAPHORE_REQUESTS_HPP
#define HOLDFAST_CLIENT_SEMAPHORE_REQUESTS_HPP

#include "protocol/target.hpp"

#include <holdfast/semaphore.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::detail {

class client_state;

// One request about a semaphore, and its answer. From any thread.

void inspect_semaphore(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    semaphore_inspect_handler handler
);
void count_available(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    available_handler handler
);
void try_set_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    std::int64_t limit,
    set_permits_handler handler
);

}  // namespace holdfast::detail

#endif
