#ifndef HOLDFAST_LEASE_HOLDS_HPP
#define HOLDFAST_LEASE_HOLDS_HPP

#include "core/hold_fsm.hpp"
#include "core/lease_fsm.hpp"
#include "lease/hold.hpp"
#include "lease/keep_alives.hpp"
#include "lease/owner_table.hpp"
#include "lease/release_queue.hpp"
#include "lease/renewals.hpp"
#include "lease/successors.hpp"
#include "lease/tenure.hpp"
#include "lease/tenure_ends.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/lease.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::detail {

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
    };
    [[nodiscard]] lease add(grant const& granted, holder const& to);
    /// A hold whose last tenure is over goes to another holder of this client, without a word to
    /// the server.
    [[nodiscard]] lease pass_on(hold& of, holder const& to, time_point now);
    /// The holder of a tenure gives it back. `was_lost`: the lease was lost before.
    void give_back(
        std::shared_ptr<tenure> of,
        bool was_lost,
        std::shared_ptr<pending_handler<error_code>> caller
    );
    /// Asks the server ahead of time for what the next holders will need.
    void refill_ahead(hold& of, time_point now);
    /// Whether this client holds the lock. Looks at each hold.
    [[nodiscard]] bool any_of(target const& on) const noexcept;
    /// Whether this holder id has it. Looks at each hold.
    [[nodiscard]] bool has(target const& on, holder_id const& id) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return holds_.empty(); }
    /// The tenure of this owner, which may be over already.
    [[nodiscard]] tenure* of_owner(target const& on, std::optional<owner> const& who) const;

    /// The server says so. Its holder may be stuck, and not learn of it for long; those that wait
    /// behind it do.
    void on_not_ours(hold const& of) {
        if (successors_) {
            successors_->on_lost(of);
        }
    }
    void on_connected();
    void on_disconnected();
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
        std::shared_ptr<tenure> of;
        bool was_lost = false;
        std::shared_ptr<pending_handler<error_code>> caller;
    };

    [[nodiscard]] lease begin_tenure(
        hold& over,
        fencing_token token,
        lease_fsm::grant const& times,
        holder const& to
    );
    void end_tenure(hold& of, time_point now) noexcept;
    void settle(hold& of, parting left, bool asked, time_point now);
    void refill(hold& of, request_reason why);
    void release(hold& of, parting left, bool wanted, time_point now);
    [[nodiscard]] release_fsm::terms release_terms(
        hold const& of,
        parting const& left,
        time_point now
    ) const;
    void forget(hold& of) noexcept;
    void keep_alive_later(time_point at);
    void start_keep_alives();
    void on_tenure_over(tenure& of);

    client_context& client_;
    boost::intrusive::list<hold> holds_;
    std::shared_ptr<keep_alives> keepers_ = std::make_shared<keep_alives>();
    owner_table owners_;
    renewals renewals_;
    release_queue releases_;
    successors* successors_ = nullptr;
    std::optional<timer> timer_;
    bool armed_ = false;
    // The holds up to this time are looked after.
    time_point kept_until_ = time_point::min();
    tenure_ends ends_;
};

}  // namespace holdfast::detail

#endif
