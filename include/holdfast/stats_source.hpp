#ifndef HOLDFAST_STATS_SOURCE_HPP
#define HOLDFAST_STATS_SOURCE_HPP

#include <holdfast/export.hpp>
#include <holdfast/stats.hpp>

#include <memory>

namespace holdfast {

namespace detail {
class client_context;
struct counters;
}  // namespace detail

/// The statistics of one client, which can still be read when the client is gone. An observer is
/// given one of each client: see `observer::on_client`.
///
/// It keeps some hundred bytes and neither the client nor its execution context.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except assignment and
/// destruction.
class stats_source {
public:
    /// The current values, as `client::stats()` gives them; of a client that is gone, the last
    /// ones.
    [[nodiscard]] HOLDFAST_EXPORT holdfast::stats stats() const noexcept;

    /// Whether the client is gone, with all that it did in the background. The values change no
    /// more.
    [[nodiscard]] HOLDFAST_EXPORT bool ended() const noexcept;

private:
    friend class detail::client_context;
    stats_source(
        std::shared_ptr<detail::counters const> values,
        std::weak_ptr<detail::counters const> used
    ) noexcept;

    std::shared_ptr<detail::counters const> values_;
    // Expires with the last of those who count.
    std::weak_ptr<detail::counters const> used_;
};

}  // namespace holdfast

#endif
