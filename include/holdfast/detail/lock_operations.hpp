#ifndef HOLDFAST_DETAIL_LOCK_OPERATIONS_HPP
#define HOLDFAST_DETAIL_LOCK_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lock_info.hpp>

#include <memory>
#include <string>

namespace holdfast::detail {

using inspect_handler = completion_handler<error_code, lock_info>;
using force_handler = completion_handler<error_code, bool>;

/// Of a target.
[[nodiscard]] HOLDFAST_EXPORT std::string const& name_of(target const& key) noexcept;
HOLDFAST_EXPORT void start_inspect(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    inspect_handler handler
);
HOLDFAST_EXPORT void start_force_release(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    force_handler handler
);

}  // namespace holdfast::detail

#endif
