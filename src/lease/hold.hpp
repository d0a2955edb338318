#ifndef HOLDFAST_LEASE_HOLD_HPP
#define HOLDFAST_LEASE_HOLD_HPP

#include "core/hold_fsm.hpp"
#include "core/holder_id.hpp"
#include "core/lease_fsm.hpp"
#include "core/lease_terms.hpp"
#include "core/usual_hold.hpp"
#include "lease/successors.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace holdfast::detail {

class tenure;

/// What the server knows of a grant: the holder id, and until when it is kept. It is renewed and
/// released as one. Tenures of this client's holders follow each other over it; over a
/// `shared_hold` several may stand side by side.
///
/// Used on the client's strand, except where it says otherwise.
class hold : public std::enable_shared_from_this<hold>, public boost::intrusive::list_base_hook<> {
public:
    hold(
        std::shared_ptr<client_context> client,
        std::shared_ptr<target const> on,
        holder_id const& id,
        hold_fsm const& fsm
    )
        : hold{std::move(client), std::move(on), id, fsm, false} {}

    // They never change.
    /// It is a `shared_hold`.
    [[nodiscard]] bool shared() const noexcept { return shared_; }
    [[nodiscard]] client_context& client() const noexcept { return *client_; }
    [[nodiscard]] std::shared_ptr<client_context> const& share_client() const noexcept {
        return client_;
    }
    [[nodiscard]] std::shared_ptr<target const> const& on() const noexcept { return target_; }
    [[nodiscard]] holder_id id() const noexcept { return client_->holder_id_of(number_); }

    /// From any thread: sends a renewal for this tenure, and tells it what came of it; then `done`
    /// on the strand: success, `lease_lost`, or the cause. `renewals` sends the renewals that no
    /// caller waits for.
    void renew(std::shared_ptr<tenure> asking, std::function<void(error_code)> done);

    [[nodiscard]] hold_fsm& fsm() noexcept { return fsm_; }
    [[nodiscard]] hold_fsm const& fsm() const noexcept { return fsm_; }
    [[nodiscard]] usual_hold& usual() noexcept { return usual_; }
    /// The terms of a tenure for a waiter who wants these.
    [[nodiscard]] lease_terms terms_for(lease_terms const& wanted) const noexcept;

    /// Whether a renewal may be sent for this tenure: it has the hold, and is not lost.
    [[nodiscard]] bool may_renew(tenure const& asking, time_point now = lease_clock::now()) const;
    /// Its renewal has failed for good: those of others must not fail with it.
    [[nodiscard]] bool renewed_alone() const noexcept { return renewed_alone_; }
    /// Sends a renewal of this one only.
    void send_renewal(
        std::shared_ptr<tenure> const& asking,
        std::function<void(error_code)> done = {}
    );
    /// Takes tokens for these local waiters; `renews` it, too, for a tenure of these terms.
    /// `done` is called in the end: success if it is ours.
    void refill(
        lease_terms const& terms,
        bool renews,
        successors::waiters const& local,
        std::function<void(error_code)> done
    );
    /// A request to keep it for longer, or to see whether it is ours.
    struct request {
        /// The tenure that had the hold when this was sent; none if it had none. It may be over
        /// when the answer comes, and another one may have begun.
        std::shared_ptr<tenure> asking;
        time_point sent_at;
        lease_terms terms;
        bool renews = true;
        lease_fsm::renewed_by by = lease_fsm::renewed_by::keep_alive;

        /// A renewal for this tenure.
        [[nodiscard]] static request of(std::shared_ptr<tenure> asking, time_point sent_at);
    };
    /// For how long the server is asked to keep it, which is noted. Zero: it is only to say whether
    /// it is ours.
    [[nodiscard]] millis lease_to_ask(request const& what);
    /// The server is asked to keep it for so long, or to keep what has the same expiry there.
    void on_asked(millis lease) noexcept {
        longest_asked_ = std::max<millis>(longest_asked_, lease);
    }
    /// The server keeps it until then at most, if nothing is asked any more: it may have done what
    /// it has not answered.
    [[nodiscard]] time_point kept_until(time_point now) const noexcept {
        return std::max(fsm_.confirmed().until, now + millis{longest_asked_});
    }
    /// The server's answer. Its tenures are told.
    error_code on_answered(request const& what, loss_reason lost);
    /// It is not ours any more. Its tenures are told.
    void lose(loss_reason lost);
    /// It was not answered.
    error_code on_failed(request const& what, error_code cause);

    void on_disconnected();
    void on_replaced() noexcept { fsm_.on_replaced(); }
    /// `delay` spreads the renewals, unless the server is another one than that which confirmed the
    /// hold: it is asked at once.
    void on_connected(nanos delay);
    /// Another server confirmed it than the one that the client is connected to.
    [[nodiscard]] bool of_another_server() const noexcept;
    /// Asks whether it is ours, if that server has not said so yet.
    void verify_if_unconfirmed();
    /// Why it was lost, by the answer of the server that the client is connected to now.
    [[nodiscard]] loss_reason reason_of(loss_reason lost) const noexcept;
    /// The client lists it, and keeps it alive until it lets go of it.
    void keep() { kept_ = shared_from_this(); }
    [[nodiscard]] std::shared_ptr<hold> let_go() noexcept { return std::exchange(kept_, {}); }
    /// The client looks after it from now on, and keeps its tenure.
    void on_taken(std::shared_ptr<tenure> next);
    /// A tenure is over. @returns it; nothing if it had not the hold.
    [[nodiscard]] std::shared_ptr<tenure> on_vacated(tenure const& which) noexcept;
    /// Nothing between two tenures, and after the end. One of those that share the hold.
    [[nodiscard]] std::shared_ptr<tenure> const& current() const noexcept { return tenure_; }
    /// Since when the oldest of those has it that have not lost it; `max` if there is none.
    [[nodiscard]] time_point held_since(time_point now) const noexcept;
    /// Whether this tenure has it.
    [[nodiscard]] bool has(tenure const* which) const noexcept;

protected:
    hold(
        std::shared_ptr<client_context> client,
        std::shared_ptr<target const> on,
        holder_id const& id,
        hold_fsm const& fsm,
        bool shared
    );

private:
    template <class F>
    void for_each_tenure(F f) const;
    [[nodiscard]] error_code on_result(request const& what, exec_result const& result);
    void on_refill_answered(exec_result const& result, std::uint32_t tokens, bool queued);
    void on_learned(request& what, exec_result const& result);
    void verify();

    std::shared_ptr<client_context> client_;
    std::shared_ptr<target const> target_;
    std::shared_ptr<tenure> tenure_;
    std::shared_ptr<hold> kept_;
    std::uint64_t number_;
    // Its padding has room for what follows: there may be many holds.
    [[no_unique_address]] hold_fsm fsm_;
    usual_hold usual_;
    bool renewed_alone_ = false;
    bool shared_;
    std::chrono::duration<std::uint32_t, std::milli> longest_asked_{0};
};

}  // namespace holdfast::detail

#endif
