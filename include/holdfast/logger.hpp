#ifndef HOLDFAST_LOGGER_HPP
#define HOLDFAST_LOGGER_HPP

#include <holdfast/export.hpp>

#include <functional>
#include <string_view>

namespace holdfast {

/// How important a log message is.
enum class log_level {
    /// Something that an operator should look into, such as a foreign value under a lock's key or a
    /// refused password.
    error,
    /// A lease was lost, a connection broke, or the server evicts keys.
    warning,
    /// Connections are made and end.
    info,
    /// Single steps, for finding a fault.
    debug,
};

/// The name of the enumerator, such as `warning`; `unknown` for any other value.
///
/// @par Thread safety   Safe.
[[nodiscard]] HOLDFAST_EXPORT std::string_view to_string(log_level level) noexcept;

/// Receives log messages. It is called on the client's strand, one call at a time. It must not
/// block and must not throw. A message never contains a password; names of locks are escaped.
///
/// The client limits warnings and errors. The first line of a cause is written at once, for up to
/// three locks. If the cause repeats, one line follows after 10 s, and then after pauses that
/// double up to 10 min. That line says how often the cause occurred meanwhile, and for how many
/// locks. The addresses of a cluster or of Sentinels are treated as locks are.
using log_sink = std::function<void(log_level, std::string_view message)>;

/// Writes a warning or an error to standard error (`std::clog`) as one line, such as
/// `holdfast: warning: …`. Ignores other levels. The default of `config::log`.
///
/// @par Thread safety   Safe, unless the program has called `std::ios::sync_with_stdio(false)`.
/// @par Errors          None. A line that cannot be written is lost.
HOLDFAST_EXPORT void log_to_stderr(log_level level, std::string_view message) noexcept;

}  // namespace holdfast

#endif
