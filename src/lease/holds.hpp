#ifndef HOLDFAST_LEASE_HOLDS_HPP
#define HOLDFAST_LEASE_HOLDS_HPP

#include "core/hold_fsm.hpp"
#include "core/lease_fsm.hpp"
#include "core/sharing.hpp"
#include "lease/hold.hpp"
#include "lease/keep_alives.hpp"
#include "lease/owner_table.hpp"
#include "lease/release_queue.hpp"
#include "lease/renewals.hpp"
#include "lease/successors.hpp"
#include "lease/tenure.hpp"
#include "lease/tenure_timer.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/lease.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace holdfast::detail {

class shared_hold;

/// What a client holds: the grants that were not given back yet, who looks after them, who may
/// re-enter, and the releases on their way. Used on the client's strand; it is a part of the
/// client.
class holds {
public:
    explicit holds(client_context& client);

    /// Who is to have a lock.
    struct holder {
        lease_terms const& terms;
        std::optional<owner> const& who;
        guarded_executor const& executor;
    };
    /// What the server granted to the holder id `id`.
    struct grant {
        std::shared_ptr<target const> on;
        holder_id const& id;
        fencing_token token;
        hold_fsm fsm;
        lease_fsm::grant times;
        /// As the server knows it; zero: not known.
        nanos usual_hold{0};
        /// Where several holders may have it.
        std::optional<sharing> shared = {};
    };
    [[nodiscard]] lease add(grant const& granted, holder const& to);
    /// A hold whose last tenure is over goes to another holder of this client, without a word to
    /// the server.
    [[nodiscard]] lease pass_on(hold& of, holder const& to, time_point now);
    /// The newest hold of this lock, if several holders may have it; else nothing.
    [[nodiscard]] shared_hold* shared_hold_of(target const& on) const noexcept;
    /// A further holder has it, beside those who have it already. Empty if the server has to be
    /// asked. `waited`: since before it was granted.
    [[nodiscard]] lease share(shared_hold& of, holder const& to, bool waited, time_point now);
    /// Nobody else may have it from now on.
    void stop_sharing(target const& on) noexcept;
    /// The holder of a tenure has given it back at that time. `was_lost`: the lease was lost
    /// before.
    void give_back(
        std::shared_ptr<tenure> of,
        time_point at,
        bool was_lost,
        std::shared_ptr<pending_handler<error_code>> caller
    );
    /// Asks the server ahead of time for what the next holders will need.
    void refill_ahead(hold& of, time_point now);
    /// Since when somebody of this client has held the lock, the oldest one of those who do; `max`
    /// if nobody does. Looks at each hold.
    [[nodiscard]] time_point held_since(target_key const& on) const noexcept;
    /// Whether this holder id has it. Looks at each hold.
    [[nodiscard]] bool has(target const& on, holder_id const& id) const noexcept;
    /// The server says that it has granted the lock to this holder id, with this token. A hold with
    /// a smaller one is lost.
    void on_granted(target const& on, holder_id const& id, fencing_token token);
    [[nodiscard]] bool empty() const noexcept { return holds_.empty(); }
    /// The tenure of this owner, which may be over already.
    [[nodiscard]] tenure* of_owner(target const& on, std::optional<owner> const& who) const {
        return of_owner(target_key{on}, who);
    }
    [[nodiscard]] tenure* of_owner(target_key const& on, std::optional<owner> const& who) const;

    /// The server says so. Its holder may be stuck, and not learn of it for long; those that wait
    /// behind it do.
    void on_not_ours(hold const& of) {
        if (successors_) {
            successors_->on_lost(of);
        }
    }
    /// A connection was made, or broke, for `those`.
    void on_connected(client_context::some const& those);
    void on_disconnected(client_context::some const& those);
    /// Another server has the place of theirs. `on_connected` follows.
    void on_replaced(client_context::some const& those);
    /// Every lease is lost, and is released.
    void stop();
    void on_context_gone() noexcept;

    [[nodiscard]] keep_alives& keepers() noexcept { return *keepers_; }
    [[nodiscard]] renewals& renewing() noexcept { return renewals_; }
    [[nodiscard]] release_queue& releases() noexcept { return releases_; }
    void set_successors(successors& to) noexcept { successors_ = &to; }

private:
    enum class request_reason : std::uint8_t {
        /// Another client handed it over.
        claim,
        /// The hold has no tenure until the answer comes.
        idle,
        ahead,
    };
    // What is left to do when a tenure is over.
    struct parting {
        std::shared_ptr<tenure> of = {};
        bool was_lost = false;
        std::shared_ptr<pending_handler<error_code>> caller = {};
        // Its deadline has passed, and its holder has not released it.
        bool overdue = false;
    };

    // Most leases are released sooner than this, and need no keep-alive. It is a small part of the
    // shortest lease: a keep-alive that starts then is in time for all that it has to do.
    static constexpr millis young{20};

    [[nodiscard]] static lease_fsm::grant times_within(
        hold const& of,
        lease_terms const& terms,
        time_point now
    );
    [[nodiscard]] std::shared_ptr<hold> make_hold(grant const& of);
    void list_shared(hold& of);
    void unlist_shared(hold const& of) noexcept;
    [[nodiscard]] lease begin_tenure(
        hold& over,
        fencing_token token,
        lease_fsm::grant const& times,
        holder const& to
    );
    void end_tenure(hold& of, tenure const& which, time_point now) noexcept;
    void settle(hold& of, parting left, bool asked, time_point now);
    void refill(hold& of, request_reason why);
    void release(hold& of, parting left, bool wanted, time_point now);
    [[nodiscard]] release_fsm::terms release_terms(
        hold const& of,
        parting const& left,
        time_point now
    ) const;
    void forget(hold& of);
    void look_after(tenure& of, lease_fsm::grant const& times);
    void on_due(tenure& of);
    void verify_later();

    client_context& client_;
    boost::intrusive::list<hold> holds_;
    std::shared_ptr<keep_alives> keepers_ = std::make_shared<keep_alives>();
    owner_table owners_;
    renewals renewals_;
    release_queue releases_;
    successors* successors_ = nullptr;
    std::optional<timer> verify_timer_;
    // When the client has to do something about each tenure: start its keep-alive, or end it.
    tenure_timer due_;
    // The newest of each lock. The names in the keys are those of the holds' targets.
    std::unordered_map<target_key, shared_hold*, target_key_hash> shared_;
};

}  // namespace holdfast::detail

#endif
