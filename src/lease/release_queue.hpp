#ifndef HOLDFAST_LEASE_RELEASE_QUEUE_HPP
#define HOLDFAST_LEASE_RELEASE_QUEUE_HPP

#include "core/holder_id.hpp"
#include "core/release_fsm.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::detail {

class tenure;

/// A lock to be freed: for a release that is waited for, for a lease that was dropped, for an
/// attempt that was left behind.
struct release_task {
    std::shared_ptr<target const> on;
    holder_id id;
    release_fsm::terms terms;
    /// What the lock is released for; none for a withdrawal.
    std::shared_ptr<tenure> of;
    std::shared_ptr<pending_handler<error_code>> caller;
};

/// Sends releases, again and again until one is answered or the lease has ended by itself: the
/// caller's cancellation does not reach it. Used on the client's strand; it is a part of the
/// client.
class release_queue {
public:
    explicit release_queue(client_context& client);
    ~release_queue();

    void add(release_task task, time_point now = lease_clock::now());
    void on_connected();
    void on_disconnected();
    /// Nothing more will be answered.
    void stop() noexcept;
    [[nodiscard]] bool idle() const noexcept { return pending_.empty(); }
    /// Whether a lock may be left on the server that was to be freed.
    [[nodiscard]] bool left_behind() const noexcept;

    struct observer {
        /// A lock was freed. `notified`: those who wait in other processes were told.
        std::function<void(target const& on, bool notified)> on_freed;
        /// The last release was settled.
        std::function<void()> on_idle;
    };
    void set_observer(observer to) { observer_ = std::move(to); }

private:
    struct entry;
    using entry_ptr = std::shared_ptr<entry>;
    // Ordered by when they have to be looked at.
    using queue = std::multimap<time_point, entry_ptr>;

    void send(entry_ptr const& e);
    void on_answer(entry_ptr const& e, exec_result const& result);
    void apply(entry_ptr const& e, release_fsm::verdict const& verdict);
    static void tell(entry& e, release_fsm::verdict const& verdict);
    void requeue(entry& e);
    void drop_a_withdrawal();
    void arm();
    void on_timer();

    client_context& client_;
    observer observer_;
    queue pending_;
    std::size_t withdrawals_ = 0;
    // Until then something that was to be freed may be on the server.
    time_point left_behind_until_ = time_point::min();
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
    bool stopped_ = false;
};

}  // namespace holdfast::detail

#endif
