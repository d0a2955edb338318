#ifndef HOLDFAST_LEASE_KEEP_ALIVES_HPP
#define HOLDFAST_LEASE_KEEP_ALIVES_HPP

#include "lease/keep_alive.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace holdfast::detail {

/// A client's keep-alives: one for each executor that a holder uses. Those of a context are found
/// by comparing executors.
///
/// @par Thread safety   Safe.
class keep_alives : public std::enable_shared_from_this<keep_alives> {
public:
    /// Looks after `one` on a strand of `executor`.
    /// @returns the keep-alive that does; none if the context is being destroyed.
    /// @throws std::exception if there is no memory for it.
    [[nodiscard]] std::shared_ptr<keep_alive> add(
        guarded_executor const& executor,
        sleeper& one,
        time_point at
    );

private:
    using bucket = std::vector<std::shared_ptr<keep_alive>>;

    [[nodiscard]] std::shared_ptr<keep_alive> find(
        guarded_executor const& executor,
        sleeper& one,
        time_point at
    );
    void list(std::shared_ptr<keep_alive> const& made);
    void unlist(keep_alive const& ended) noexcept;

    std::mutex mutex_;
    // Only those whose coroutine runs: they notice the end of their context.
    std::unordered_map<asio::execution_context const*, bucket> running_;
};

}  // namespace holdfast::detail

#endif
