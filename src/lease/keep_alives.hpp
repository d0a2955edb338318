#ifndef HOLDFAST_LEASE_KEEP_ALIVES_HPP
#define HOLDFAST_LEASE_KEEP_ALIVES_HPP

#include "lease/keep_alive.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace holdfast::detail {

/// A client's keep-alives: one for each executor that a holder uses. That of a strand is looked up;
/// those of other kinds are found by comparing executors.
///
/// @par Thread safety   Safe.
class keep_alives final : public std::enable_shared_from_this<keep_alives>,
                          public keep_alive::observer {
public:
    /// Looks after `one` on a strand of `executor`.
    /// @returns the keep-alive that does; none if the context is being destroyed, and then `one`
    /// was told so.
    [[nodiscard]] std::shared_ptr<keep_alive> add(
        guarded_executor const& executor,
        sleeper& one,
        wake_time at
    );
    void on_end(keep_alive const& ended) noexcept override;

private:
    using bucket = boost::container::small_vector<std::shared_ptr<keep_alive>, 1>;
    struct key {
        asio::execution_context const* context;
        void const* strand;

        friend bool operator==(key const&, key const&) = default;
    };
    struct key_hash {
        std::size_t operator()(key const& of) const noexcept;
    };

    [[nodiscard]] static key key_of(guarded_executor const& executor);
    [[nodiscard]] std::shared_ptr<keep_alive> find(
        guarded_executor const& executor,
        sleeper& one,
        wake_time at
    );
    void list(std::shared_ptr<keep_alive> const& made);

    std::mutex mutex_;
    // Those whose coroutine is started, or is about to be: they notice the end of their context.
    std::unordered_map<key, bucket, key_hash> running_;
};

}  // namespace holdfast::detail

#endif
