#ifndef HOLDFAST_LOGGER_HPP
#define HOLDFAST_LOGGER_HPP

#include <functional>
#include <string_view>

namespace holdfast {

/// How much a message matters, and to whom.
enum class log_level {
    /// Something that an operator should look into: a foreign value under a lock's key, a refused
    /// password.
    error,
    /// A lease was lost, a connection broke, the server evicts keys.
    warning,
    /// Connections that come and go.
    info,
    /// Single steps, for the search for a fault.
    debug,
};

/// Receives what the client has to say. It is called on the client's strand, one call at a time,
/// must not block and must not throw. The text never contains a password; names of locks are
/// escaped.
using log_sink = std::function<void(log_level, std::string_view message)>;

}  // namespace holdfast

#endif
