#ifndef HOLDFAST_LEASE_TENURE_HPP
#define HOLDFAST_LEASE_TENURE_HPP

#include "core/lease_fsm.hpp"
#include "lease/hold.hpp"
#include "lease/lease_shares.hpp"
#include "lease/loss_watchers.hpp"
#include "lease/tenure_timer.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/lease.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::detail {

class holds;

/// What is left to do of a release that has begun, on the client's strand.
struct given_back {
    std::shared_ptr<tenure> of;
    time_point at;
    bool was_lost = false;
    std::shared_ptr<pending_handler<error_code>> caller = {};

    void operator()();
};

/// What a local holder has: a token, the leases of one owner, and those who watch for the loss. It
/// ends with the last release, or with the loss.
///
/// Readable from any thread.
class tenure : public std::enable_shared_from_this<tenure>, public timed_tenure {
public:
    tenure(
        holds& all,
        std::shared_ptr<hold> over,
        fencing_token token,
        lease_fsm const& fsm,
        time_point since,
        guarded_executor const& holder_executor
    );

    /// The lease that it begins with.
    [[nodiscard]] lease make_lease() { return lease{shares_.first()}; }
    /// A further lease; empty if the tenure is over.
    [[nodiscard]] lease make_further_lease(guarded_executor const& holder_executor);

    // From any thread.
    [[nodiscard]] hold& over() const noexcept { return *hold_; }
    [[nodiscard]] std::shared_ptr<hold> const& share_hold() const noexcept { return hold_; }
    /// When it was granted.
    [[nodiscard]] time_point since() const noexcept { return since_; }
    [[nodiscard]] lease_state state(lease_share const& asking) const noexcept;
    /// It was not released or lost.
    [[nodiscard]] bool alive(time_point now = lease_clock::now()) const noexcept;
    [[nodiscard]] loss_reason loss(lease_share const& asking) const noexcept;
    [[nodiscard]] time_point deadline() const noexcept {
        std::lock_guard const guard{mutex_};
        static_cast<void>(look());
        return fsm_.deadline();
    }
    /// The deadline; nothing once the last lease was released.
    [[nodiscard]] std::optional<time_point> ends_at(time_point now) const noexcept {
        std::lock_guard const guard{mutex_};
        return look(now) == lease_state::empty ? std::nullopt : std::optional{fsm_.deadline()};
    }
    [[nodiscard]] fencing_token token() const noexcept { return {token_.load() & ~of_quorum}; }
    /// Gives this part of a quorum's lease the token of the whole, so that a lease that joins gets
    /// no smaller one. A greater token of the node itself stays. From any thread.
    void raise_token(fencing_token to) noexcept;
    /// That of the quorum's grant, if it was raised to that; else zero.
    [[nodiscard]] fencing_token quorum_token() const noexcept {
        auto const known = token_.load();
        return {(known & of_quorum) != 0 ? known & ~of_quorum : 0};
    }
    void renew(std::shared_ptr<lease_share> asking, plain_handler handler);
    void release(std::shared_ptr<lease_share> const& asking, plain_handler handler);
    /// The same, without what is left to do.
    [[nodiscard]] std::optional<given_back> begin_release(
        std::shared_ptr<lease_share> const& asking,
        plain_handler handler
    );
    /// @returns what to cancel it with.
    std::uint64_t wait_lost(std::shared_ptr<lease_share> const& asking, loss_handler handler);
    /// Nothing happens if it is over, or `number` is zero.
    void cancel_watch(std::uint64_t number);
    /// Where this lease's holder is told of a loss: the client's executor may be stuck.
    [[nodiscard]] asio::any_io_executor told_on(lease_share const& asking) const {
        std::lock_guard const guard{mutex_};
        return asking.holder_executor ? asking.holder_executor.get() : hold_->client().executor();
    }
    /// Where this lease is renewed; empty after its end, and if the context is gone.
    [[nodiscard]] guarded_executor holder_of(lease_share const& asking) const {
        std::lock_guard const guard{mutex_};
        return asking.holder_executor;
    }
    /// From now on this group, which the lease is a member of, is told of each renewal that the
    /// keep-alive sends, for whichever lease of the tenure.
    void tell_of_renewals(lease_share& asking, std::weak_ptr<lease_group> group) noexcept {
        std::lock_guard const guard{mutex_};
        asking.member_of.swap(group);
    }
    /// The lease was dropped without a release.
    void abandon(lease_share& dropped) noexcept;
    /// Tells the watchers if the lease has ended by time. The holder's own thread may not have run
    /// since then.
    void notice_loss(time_point now);
    /// Has the oldest lease looked after on its holder's executor: renewed, and told in time of a
    /// loss.
    void start_keep_alive() { shares_.start_keep_alive(); }

    // What the hold's requests and connections come to; on the client's strand.
    /// Only what runs there changes them.
    [[nodiscard]] lease_terms const& terms() const noexcept { return fsm_.terms(); }
    /// It is limited as these terms say, as if it had been granted now; `renews`: once it was
    /// renewed. `done` is called with success, or with why it could not be renewed. A lease that
    /// joined a grant that was there stays as it is.
    void limit(
        lease_share const& asking,
        lease_terms const& as,
        bool renews,
        std::function<void(error_code)> done
    );
    void on_renewed(lease_fsm::renewal const& what);
    void on_not_ours(loss_reason reason);
    void on_renewal_failed();
    void on_disconnected();
    void on_connected(nanos delay);
    /// The connection leads to another server. @returns whether that has to be asked about the
    /// lock because no renewal will.
    [[nodiscard]] bool on_failed_over();
    void on_verified();
    void on_client_stopped();
    /// The release was answered, or is given up. `lost`: it found that the lease had been lost.
    void on_released(loss_reason lost);
    /// Nothing will run on the executors any more, and they may be destroyed at any time.
    void drop_executors() noexcept { shares_.stop_keeping(); }
    /// The client's context is being destroyed.
    void drop_watchers() noexcept {
        loss_watchers::list dropped;
        std::lock_guard const guard{mutex_};
        dropped = watchers_.take_all();
    }

private:
    friend struct given_back;
    friend struct lease_share;
    friend class lease_shares;
    friend class shared_hold;

    enum class parting : std::uint8_t {
        /// The lease had been released before.
        none,
        /// Not yet: its loss comes first.
        loss_untold,
        /// Another lease still stands for the grant.
        one_of_several,
        last,
    };

    /// Runs `change` on the machine and follows up what it did to the state.
    template <class Change>
    auto apply(Change change, std::optional<time_point> at = {});
    template <class Change>
    void note(Change change);
    void on_lost(loss_reason reason);
    void on_new_limits(lease_terms const& limits);
    void tell_of_loss(lease_share const& share);
    [[nodiscard]] lease_fsm::step take_step(lease_share& share);
    void on_executor_gone(lease_share& share) noexcept;
    parting leave(lease_share& leaving, time_point now, bool& was_lost);
    [[nodiscard]] std::mutex& mutex() const noexcept { return mutex_; }
    // Under the mutex.
    [[nodiscard]] lease_state look(time_point now = lease_clock::now()) const noexcept;

    holds& all_;
    std::shared_ptr<hold> hold_;
    // Tokens have 53 bits.
    static constexpr std::uint64_t of_quorum = std::uint64_t{1} << 63;
    std::atomic<std::uint64_t> token_;
    time_point since_;

    mutable std::mutex mutex_;
    // Guarded by it.
    mutable lease_fsm fsm_;
    lease_shares shares_;
    loss_watchers watchers_;
    bool loss_told_ = false;

    // Where a hold keeps it that several tenures have; for that hold, on the client's strand.
    std::uint32_t place_in_hold_ = 0;
};

}  // namespace holdfast::detail

#endif
