#ifndef HOLDFAST_ACQUIRE_WAIT_QUEUES_HPP
#define HOLDFAST_ACQUIRE_WAIT_QUEUES_HPP

#include "core/lease_terms.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace holdfast::detail {

class acquire_op;
class acquisitions;
class wait_queue;

/// A client's wait queues. Used on the client's strand.
class wait_queues {
public:
    explicit wait_queues(acquisitions& all) : all_{all} {}

    /// Ends with `too_many_waiters` if the queue is full. Where each waiter has a place of its own
    /// on the server, each has a queue of its own.
    void enter(std::shared_ptr<acquire_op> op, time_point now);
    /// The queue that all waiters of this target share.
    [[nodiscard]] wait_queue* find(target const& on) const noexcept;
    /// The same, where the waiters of a target share a queue.
    [[nodiscard]] wait_queue* find(target_key const& on) const noexcept;
    [[nodiscard]] std::size_t waiters_of(target const& on) const noexcept;
    /// Of all targets of its kind and name. Looks at each queue.
    [[nodiscard]] std::size_t waiters_of_name(target const& on) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return queues_.size(); }
    template <class F>
    void for_each(F f) const {
        for (auto const& [key, queue] : queues_) {
            f(*queue);
        }
    }

    /// The last waiter of a queue has gone. It is closed now, or, to keep its subscription for the
    /// next waiter, after a moment.
    void on_empty(wait_queue& which);
    void close(wait_queue& which) noexcept;

    /// `spread` is the time over which the queues try again.
    void on_connected(nanos spread, client_context::some const& those);
    void on_disconnected(client_context::some const& those);
    void on_hand_over_changed();
    void end_all(
        error_code cause,
        client_context::some const& those = client_context::everything()
    );
    /// Drops all queues and what waits in them.
    void clear() noexcept;

private:
    struct lingering {
        std::weak_ptr<wait_queue> which;
        time_point since;
    };

    void arm_sweep();
    void sweep();
    [[nodiscard]] std::vector<std::shared_ptr<wait_queue>> all() const;

    acquisitions& all_;
    // A key is the name in its queue's target. It stands there once, or for each waiter.
    std::unordered_multimap<target_key, std::shared_ptr<wait_queue>, target_key_hash> queues_;
    // Those that were empty, in the order in which they became so.
    std::deque<lingering> lingering_;
    std::optional<timer> sweep_timer_;
    bool sweeping_ = false;
};

}  // namespace holdfast::detail

#endif
