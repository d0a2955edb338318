#ifndef HOLDFAST_LEASE_HOLDS_HPP
#define HOLDFAST_LEASE_HOLDS_HPP

#include "lease/hold.hpp"
#include "lease/keep_alives.hpp"
#include "lease/owner_table.hpp"
#include "lease/release_queue.hpp"
#include "lease/tenure.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/lease.hpp>

#include <boost/intrusive/list.hpp>

#include <memory>
#include <optional>

namespace holdfast::detail {

/// What a client holds: the grants that were not given back yet, who looks after them, who may
/// re-enter, and the releases on their way. Used on the client's strand; it is a part of the
/// client.
class holds {
public:
    explicit holds(client_context& client);

    /// A grant for the holder id `id`, from the request that was sent at `sent_at`.
    struct grant {
        std::shared_ptr<target const> on;
        holder_id const& id;
        lease_terms const& terms;
        time_point sent_at;
        time_point at;
        fencing_token token;
        std::optional<owner> const& who;
    };
    [[nodiscard]] lease add(grant const& granted, guarded_executor const& holder_executor);
    /// Releases what the tenure was over. `was_lost`: the lease was lost before.
    void give_back(
        std::shared_ptr<tenure> of,
        bool was_lost,
        std::shared_ptr<pending_handler<error_code>> caller
    );
    /// Whether this client holds the lock. Looks at each hold.
    [[nodiscard]] bool any_of(target const& on) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return holds_.empty(); }
    /// The tenure of this owner, which may be over already.
    [[nodiscard]] tenure* of_owner(target const& on, std::optional<owner> const& who) const;

    void on_connected();
    void on_disconnected();
    /// Every lease is lost, and is released.
    void stop();
    void on_context_gone() noexcept;

    [[nodiscard]] keep_alives& keepers() noexcept { return *keepers_; }
    [[nodiscard]] release_queue& releases() noexcept { return releases_; }

private:
    void forget(hold& of, time_point now) noexcept;
    void keep_alive_later(time_point at);
    void start_keep_alives();

    client_context& client_;
    boost::intrusive::list<hold> holds_;
    std::shared_ptr<keep_alives> keepers_ = std::make_shared<keep_alives>();
    owner_table owners_;
    release_queue releases_;
    std::optional<timer> timer_;
    bool armed_ = false;
    // The holds up to this time are looked after.
    time_point kept_until_ = time_point::min();
};

}  // namespace holdfast::detail

#endif
