#ifndef HOLDFAST_ACQUIRE_ACQUISITIONS_HPP
#define HOLDFAST_ACQUIRE_ACQUISITIONS_HPP

#include "acquire/wait_queues.hpp"
#include "core/token_clock.hpp"
#include "lease/holds.hpp"
#include "protocol/backend.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/lease.hpp>

#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace holdfast::detail {

class acquire_op;

/// The acquisitions of a client that are not over: those that wait in queues, those that make one
/// attempt, and those of each owner. Used on the client's strand; it is a part of the client.
class acquisitions {
public:
    acquisitions(client_context& client, holds& held);
    ~acquisitions();

    void enter(std::shared_ptr<acquire_op> op);
    void leave(acquire_op& op) noexcept;
    /// Sends an attempt.
    void exec(acquire_op const& op, exec_handler&& handler);
    [[nodiscard]] lease add_hold(
        acquire_op const& op,
        fencing_token token,
        time_point now,
        guarded_executor const& holder_executor
    );
    /// Frees in the background what an attempt may have been granted, or may be granted yet.
    void withdraw(acquire_op const& op) noexcept;
    /// The acquisitions of the same target and owner that wait, in the order of their arrival.
    [[nodiscard]] std::vector<std::shared_ptr<acquire_op>> waiting_like(acquire_op const& op) const;

    void on_connected();
    void on_disconnected();
    void end_all(error_code cause);
    /// A lock was freed by this client. `notified`: the message went out.
    void on_freed(target const& on, bool notified);
    /// Refuses what comes from now on.
    void close() noexcept { closed_ = true; }
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    void clear() noexcept;

    [[nodiscard]] std::size_t waiters_of(target const& on) const noexcept;
    [[nodiscard]] client_context& client() const noexcept { return client_; }
    [[nodiscard]] holds& held() const noexcept { return held_; }
    [[nodiscard]] wait_queues& queues() noexcept { return queues_; }

private:
    struct same_owner {
        // The name in the key is this target's.
        std::shared_ptr<target const> keeps;
        // Weak, so that an acquisition that could not be listed elsewhere does no harm here.
        std::list<std::weak_ptr<acquire_op>> waiting;
    };

    void list_owner(std::shared_ptr<acquire_op> const& op);
    void unlist_owner(acquire_op& op) noexcept;
    void try_singles();

    client_context& client_;
    holds& held_;
    wait_queues queues_;
    std::list<std::shared_ptr<acquire_op>> singles_;
    std::unordered_map<owned, same_owner, owned_hash> owners_;
    std::optional<timer> singles_timer_;
    // It runs from the first grant on a connection. So the commands that a holder needs are allowed
    // there.
    token_clock clock_;
    bool closed_ = false;
};

}  // namespace holdfast::detail

#endif
