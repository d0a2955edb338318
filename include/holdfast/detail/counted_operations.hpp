#ifndef HOLDFAST_DETAIL_COUNTED_OPERATIONS_HPP
#define HOLDFAST_DETAIL_COUNTED_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::detail {

using change_handler = completion_handler<error_code>;
using success_handler = completion_handler<error_code, bool>;
using number_handler = completion_handler<error_code, std::int64_t>;

// Of the number under the name of a latch or of a counting semaphore.

HOLDFAST_EXPORT void start_read_number(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    number_handler handler
);
HOLDFAST_EXPORT void start_try_set_number(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t number,
    success_handler handler
);
HOLDFAST_EXPORT void start_count_down(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t times,
    change_handler handler
);
HOLDFAST_EXPORT void start_add_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t permits,
    change_handler handler
);
HOLDFAST_EXPORT void start_release_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t permits,
    change_handler handler
);
HOLDFAST_EXPORT void start_drain_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    number_handler handler
);
/// The same semaphore, for an acquisition of so many permits.
[[nodiscard]] HOLDFAST_EXPORT std::shared_ptr<target const> with_permits(
    std::shared_ptr<target const> key,
    std::int64_t permits
);

}  // namespace holdfast::detail

#endif
