#ifndef HOLDFAST_DETAIL_CLIENT_OPERATIONS_HPP
#define HOLDFAST_DETAIL_CLIENT_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/detail/fmt.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace holdfast::detail {

using plain_handler = completion_handler<error_code>;

/// fmt 9's own templates have other symbols when clang compiles a caller than in a library that GCC
/// has compiled; those of its types are the same.
[[nodiscard]] HOLDFAST_EXPORT std::string format_name(
    fmt::string_view format,
    fmt::format_args arguments
);
[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor const& executor_of(client_state const& client
) noexcept;
HOLDFAST_EXPORT void start_ready(std::shared_ptr<client_state> client, plain_handler handler);
HOLDFAST_EXPORT void start_shutdown(std::shared_ptr<client_state> client, plain_handler handler);
HOLDFAST_EXPORT void start_drain(
    std::shared_ptr<client_state> client,
    std::chrono::nanoseconds limit,
    plain_handler handler
);

}  // namespace holdfast::detail

#endif
