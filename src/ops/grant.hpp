#ifndef HOLDFAST_OPS_GRANT_HPP
#define HOLDFAST_OPS_GRANT_HPP

#include "core/holder_id.hpp"
#include "core/key_names.hpp"
#include "core/lease_fsm.hpp"
#include "ops/pending_handler.hpp"
#include "ops/runtime.hpp"

#include <holdfast/lease.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::detail {

class client_state;

/// The shared state behind a lease: readable from any thread, renewed by a coroutine on the
/// holder's strand.
class grant : public std::enable_shared_from_this<grant>,
              public boost::intrusive::list_base_hook<> {
public:
    grant(
        std::shared_ptr<client_state> client,
        std::shared_ptr<key_names const> key,
        holder_id const& id,
        fencing_token token,
        lease_fsm const& fsm,
        time_point granted_at,
        asio::any_io_executor const& holder
    );

    [[nodiscard]] lease make_lease() { return lease{shared_from_this()}; }

    // From any thread.
    [[nodiscard]] lease_state state() const noexcept;
    [[nodiscard]] loss_reason loss() const noexcept;
    [[nodiscard]] time_point deadline() const noexcept;
    [[nodiscard]] fencing_token token() const noexcept { return token_; }
    void renew(plain_handler handler);
    void release(plain_handler handler);
    void wait_lost(loss_handler handler);
    /// The lease was dropped without a release.
    void abandon() noexcept;

    /// Starts the coroutine that renews the lease, and that says in time when it is lost; once.
    void start_keep_alive();

    // On the client's strand.
    [[nodiscard]] time_point granted_at() const noexcept { return granted_at_; }
    void on_disconnected();
    void on_connected(nanos delay);
    void on_client_stopped();
    /// The client looks after it from now on, and keeps it.
    void on_listed() noexcept;
    /// No more. Its last wake-up is posted.
    void on_forgotten() noexcept;
    /// The executors are about to be destroyed: nothing may run there any more.
    void on_context_gone() noexcept;

    [[nodiscard]] std::shared_ptr<key_names const> const& key() const noexcept { return key_; }
    [[nodiscard]] holder_id const& id() const noexcept { return id_; }
    /// They never change.
    [[nodiscard]] lease_terms const& terms() const noexcept { return fsm_.terms(); }
    [[nodiscard]] client_state const& client() const noexcept { return *client_; }

private:
    struct watcher {
        std::uint64_t number;
        pending_handler<error_code, loss_reason> handler;
    };

    static asio::awaitable<void> keep_alive(std::shared_ptr<grant> self);
    /// Runs `change` on the machine and follows up what it did to the state.
    template <class Change>
    auto apply(Change change);
    void after(loss_reason reason);
    void send_renewal(std::shared_ptr<pending_handler<error_code>> caller);
    void hand_over(bool was_lost, std::shared_ptr<pending_handler<error_code>> caller);
    void wake();
    /// Nothing will run on them any more, and nobody says when they are destroyed.
    void drop_executors() noexcept;
    void cancel_watch(std::uint64_t number);
    /// Ends ownership by the lease; false if it had ended before.
    bool begin_release(bool& was_lost);

    std::shared_ptr<client_state> client_;
    std::shared_ptr<grant> self_;
    std::shared_ptr<key_names const> key_;
    holder_id id_;
    fencing_token token_;
    asio::any_io_executor holder_;
    time_point granted_at_;
    // None before the keep-alive starts.
    asio::any_io_executor strand_;
    // Used on the strand only; lives in the coroutine, so that it never outlives the executor.
    timer* sleeping_ = nullptr;

    mutable std::mutex mutex_;
    mutable lease_fsm fsm_;
    std::list<watcher> watchers_;
    std::uint64_t next_watcher_ = 0;
    bool loss_told_ = false;
};

}  // namespace holdfast::detail

#endif
