#ifndef HOLDFAST_CLI_INSPECT_HPP
#define HOLDFAST_CLI_INSPECT_HPP

#include "cli/context.hpp"
#include "cli/found_lock.hpp"
#include "cli/holder_connection.hpp"
#include "cli/options.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// `holdfast inspect`: what the server has under a name, and whose connections its holder has.
/// Returns the exit code.
[[nodiscard]] asio::awaitable<int> inspect(context const& on, name_options const& options);

/// What was found, for programs.
[[nodiscard]] boost::json::object json_of(
    std::string_view name,
    found_lock const& found,
    std::optional<holder_connection> const& connection
);

/// What was found, for people: several lines.
[[nodiscard]] std::string text_of(
    std::string_view name,
    found_lock const& found,
    std::optional<holder_connection> const& connection,
    style const& colours
);

}  // namespace holdfast::cli

#endif
