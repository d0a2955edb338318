#ifndef HOLDFAST_LOGGER_HPP
#define HOLDFAST_LOGGER_HPP

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

/// Receives log messages. It is called on the client's strand, one call at a time. It must not
/// block and must not throw. A message never contains a password; names of locks are escaped.
using log_sink = std::function<void(log_level, std::string_view message)>;

}  // namespace holdfast

#endif
