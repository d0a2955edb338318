#ifndef HOLDFAST_DETAIL_SEMAPHORE_OPERATIONS_HPP
#define HOLDFAST_DETAIL_SEMAPHORE_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/semaphore_info.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::detail {

using semaphore_inspect_handler = completion_handler<error_code, semaphore_info>;
using available_handler = completion_handler<error_code, std::int64_t>;
using set_permits_handler = completion_handler<error_code, bool>;

HOLDFAST_EXPORT void start_inspect_semaphore(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    semaphore_inspect_handler handler
);
HOLDFAST_EXPORT void start_count_available(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    available_handler handler
);
HOLDFAST_EXPORT void start_try_set_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t limit,
    set_permits_handler handler
);

}  // namespace holdfast::detail

#endif
