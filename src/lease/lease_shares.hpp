#ifndef HOLDFAST_LEASE_LEASE_SHARES_HPP
#define HOLDFAST_LEASE_LEASE_SHARES_HPP

#include "core/lease_terms.hpp"
#include "lease/keep_alive.hpp"
#include "runtime/guarded_executor.hpp"

#include <holdfast/lease_state.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::detail {

class lease_group;
class tenure;

/// One lease's part in a tenure. A tenure has one, and further ones if its owner re-entered.
struct lease_share
    : sleeper,
      boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>> {
    lease_share(tenure& part_of, guarded_executor const& executor)
        : of{part_of},
          holder_executor{executor} {}

    std::optional<wake_time> on_due() override;
    void on_executor_gone() noexcept override;
    std::shared_ptr<sleeper> share() noexcept override;

    tenure& of;

    // Guarded by the tenure's mutex.
    /// Executor that runs the handlers of a loss. Empty after the release, because it may be
    /// destroyed by then.
    guarded_executor holder_executor;
    /// Told of renewals, see `tenure::tell_of_renewals()`.
    std::weak_ptr<lease_group> member_of;
    /// None before it is looked after.
    std::shared_ptr<keep_alive> kept_by;
    /// It will be called to tell its watchers.
    bool tells = false;
    bool kept = false;
    /// Whoever has the mutex sets it, once. Any thread may read it.
    std::atomic<bool> released = false;
    /// Of a lease that was released: that it was lost, and why.
    loss_reason lost = loss_reason::none;
};

/// The leases of a tenure that were not released, the oldest first, and who looks after each. One
/// of them renews: the oldest whose holder's executor is still there. The others only watch for the
/// loss.
class lease_shares {
public:
    using shared_share = std::shared_ptr<lease_share>;

    /// With the first one.
    lease_shares(tenure& of, guarded_executor const& holder_executor);

    /// A share of an owner who re-entered. It keeps the tenure alive, and is not one of these yet.
    [[nodiscard]] static shared_share make_further(
        std::shared_ptr<tenure> joined,
        guarded_executor const& holder_executor
    );
    /// The one that the tenure begins with.
    [[nodiscard]] shared_share first() noexcept { return pointer_to(first_); }
    [[nodiscard]] bool is_first(lease_share const& share) const noexcept {
        return &share == &first_;
    }

    // Under the tenure's mutex.
    [[nodiscard]] bool empty() const noexcept { return shares_.empty(); }
    void add(lease_share& joining) noexcept { shares_.push_back(joining); }
    void remove(lease_share& leaving) noexcept;
    [[nodiscard]] lease_share* renewing() noexcept;
    /// The one that was removed last of all: what its release finds is its loss.
    [[nodiscard]] lease_share* last() const noexcept { return last_; }
    [[nodiscard]] shared_share pointer_to(lease_share& share) noexcept;
    /// Those that are told of renewals.
    [[nodiscard]] std::vector<std::weak_ptr<lease_group>> groups() const;

    // They lock the mutex.
    /// Has the one that renews looked after on its holder's executor.
    void start_keep_alive();
    void start_keep_alive(shared_share const& share);
    void renew_elsewhere();
    void wake_renewing();
    /// The keep-alives let go of every share, except for those that still have to tell their
    /// watchers.
    void stop_keeping() noexcept;
    /// After a loss: those with watchers are called once more, on their holder's executor.
    void stop_keeping_unwatched();

private:
    struct further_share;

    [[nodiscard]] tenure& of() const noexcept { return first_.of; }
    [[nodiscard]] wake_time next_step_of(lease_share const& share) noexcept;
    void forget(lease_share const& share) noexcept;

    // Guarded by the tenure's mutex.
    lease_share first_;
    boost::intrusive::list<lease_share, boost::intrusive::constant_time_size<false>> shares_;
    lease_share* last_ = nullptr;
};

}  // namespace holdfast::detail

#endif
