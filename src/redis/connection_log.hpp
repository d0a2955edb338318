#ifndef HOLDFAST_REDIS_CONNECTION_LOG_HPP
#define HOLDFAST_REDIS_CONNECTION_LOG_HPP

#include "core/repetition.hpp"

#include <holdfast/logger.hpp>

#include <string_view>

namespace holdfast::detail {

/// What the connections of a deployment write to the log. A warning or an error that repeats is
/// limited for all addresses together: a cluster that is away has a dozen connections, and each of
/// them fails for the same cause. Used on the client's strand.
class connection_log {
public:
    explicit connection_log(log_sink to);

    /// `cause` is the same for all addresses. `place` is an address, or empty.
    void write(
        log_level level,
        std::string_view cause,
        std::string_view place,
        std::string_view text
    );
    /// A connection was made: the next failure is new.
    void reset() noexcept;

private:
    log_sink to_;
    repetition written_{"addresses"};
};

}  // namespace holdfast::detail

#endif
