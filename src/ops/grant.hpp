#ifndef HOLDFAST_OPS_GRANT_HPP
#define HOLDFAST_OPS_GRANT_HPP

#include "core/holder_id.hpp"
#include "core/key_names.hpp"
#include "core/lease_fsm.hpp"
#include "ops/pending_handler.hpp"
#include "ops/runtime.hpp"

#include <holdfast/lease.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::detail {

class client_state;

/// One lease's part in a grant. A grant has one, and further ones if its owner re-entered.
struct lease_share
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>> {
    lease_share(grant& grant_of, asio::any_io_executor const& executor)
        : of{grant_of},
          holder{executor} {}
    lease_share(lease_share const&) = delete;
    lease_share& operator=(lease_share const&) = delete;

    grant& of;

    // Guarded by the grant's mutex.
    /// Where its holder is told. None once it was released: nobody says when that is destroyed.
    asio::any_io_executor holder;
    /// None before its keep-alive starts.
    asio::any_io_executor strand;
    bool released = false;

    // Used on the strand only; lives in the coroutine, so that it never outlives the executor.
    timer* sleeping = nullptr;
};

/// The shared state behind a lease, or behind the leases of an owner who re-entered: readable from
/// any thread, renewed by a coroutine on the holder's strand.
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

    /// The lease that it begins with.
    [[nodiscard]] lease make_lease();
    /// A further lease; empty if the grant is over.
    [[nodiscard]] lease make_further_lease(asio::any_io_executor const& holder);

    // From any thread.
    [[nodiscard]] lease_state state(lease_share const& asking) const noexcept;
    [[nodiscard]] loss_reason loss(lease_share const& asking) const noexcept;
    [[nodiscard]] time_point deadline() const noexcept;
    [[nodiscard]] fencing_token token() const noexcept { return token_; }
    void renew(std::shared_ptr<lease_share> asking, plain_handler handler);
    void release(std::shared_ptr<lease_share> const& asking, plain_handler handler);
    void wait_lost(std::shared_ptr<lease_share> const& asking, loss_handler handler);
    /// The lease was dropped without a release.
    void abandon(lease_share& dropped) noexcept;

    /// Starts the coroutine that renews the lease, and that says in time when it is lost; once.
    void start_keep_alive();
    /// A keep-alive went down with its context.
    void on_holder_gone(lease_share& share) noexcept;

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
        lease_share const* of;
        std::uint64_t number;
        pending_handler<error_code, loss_reason> handler;
    };

    class keep_alive_guard;
    struct further_share;
    using shared_share = std::shared_ptr<lease_share>;
    using strand_and_share = std::pair<asio::any_io_executor, shared_share>;

    static asio::awaitable<void> keep_alive(keep_alive_guard guard);
    void start_keep_alive(shared_share share);
    [[nodiscard]] lease_fsm::step take_step(lease_share& share);
    /// Runs `change` on the machine and follows up what it did to the state.
    template <class Change>
    auto apply(Change change);
    void after(loss_reason reason);
    void send_renewal(
        std::shared_ptr<lease_share> asking,
        std::shared_ptr<pending_handler<error_code>> caller
    );
    [[nodiscard]] lease_state state_of(lease_share const* asking) const noexcept;
    void hand_over(bool was_lost, std::shared_ptr<pending_handler<error_code>> caller);
    // Under the mutex.
    [[nodiscard]] shared_share pointer_to(lease_share& share);
    [[nodiscard]] lease_share* renewing() noexcept;
    void take_watchers(lease_share const& of, std::list<watcher>& taken) noexcept;

    void renew_elsewhere();
    void wake_renewing();
    void wake_all();
    void wake(strand_and_share sleeper);
    /// Nothing will run on them any more, and nobody says when they are destroyed.
    void drop_executors() noexcept;
    void cancel_watch(std::uint64_t number);
    enum class parting {
        /// The lease had been released before.
        none,
        /// Another lease still stands for the grant.
        one_of_several,
        last,
    };
    /// Ends ownership by the lease.
    parting begin_release(lease_share& leaving, bool& was_lost);

    std::shared_ptr<client_state> client_;
    std::shared_ptr<grant> self_;
    std::shared_ptr<key_names const> key_;
    holder_id id_;
    fencing_token token_;
    time_point granted_at_;

    mutable std::mutex mutex_;
    mutable lease_fsm fsm_;
    lease_share first_;
    // Those of the leases that were not released, the oldest first. The keep-alive of one of them
    // renews; those of the others only tell of the loss.
    boost::intrusive::list<lease_share, boost::intrusive::constant_time_size<false>> shares_;
    std::list<watcher> watchers_;
    std::uint64_t next_watcher_ = 0;
    bool loss_told_ = false;
};

}  // namespace holdfast::detail

#endif
