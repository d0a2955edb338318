#ifndef HOLDFAST_ACQUIRE_ACQUIRE_OP_HPP
#define HOLDFAST_ACQUIRE_ACQUIRE_OP_HPP

#include "acquire/acquisitions.hpp"
#include "acquire/ballot.hpp"
#include "acquire/joint_attempt.hpp"
#include "acquire/lock_request.hpp"
#include "acquire/op_list.hpp"
#include "core/acquire_fsm.hpp"
#include "core/backoff.hpp"
#include "core/holder_id.hpp"
#include "core/lease_terms.hpp"
#include "lease/holds.hpp"
#include "protocol/primitive.hpp"
#include "protocol/target.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/pending_handler.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/lock.hpp>
#include <holdfast/observer.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::detail {

class client_context;
class tenure;
class wait_queue;

/// Without any time there is one attempt.
[[nodiscard]] patience effective_patience(patience how_long, nanos limit) noexcept;
/// It gives up so soon that it cannot wait for what others will learn.
[[nodiscard]] bool is_brief(patience how_long, nanos limit) noexcept;
/// How long an operation whose time is up waits for the answer to its last attempt. Without that
/// answer it could not say whether the lock is busy or the server cannot be reached.
[[nodiscard]] nanos longest_overtime(lease_terms const& of) noexcept;
/// What a cancellation of this type asks for.
[[nodiscard]] cancel_request request_of(asio::cancellation_type type) noexcept;

/// The driver of one acquisition: performs what the machine says and feeds back what comes of it.
/// Used on the client's strand.
class acquire_op : public std::enable_shared_from_this<acquire_op>, public list_place {
public:
    using request = lock_request;

    acquire_op(
        acquisitions& all,
        std::shared_ptr<client_context> client,
        request&& what,
        guarded_executor holder_executor,
        pending_handler<error_code, lease>&& handler
    );

    /// In the initiating function: the handler's cancellation slot is filled there.
    void accept_cancellation();
    void start();
    /// Makes its one attempt.
    void attempt(time_point now);
    /// Its queue does not look further: that is the caller's business.
    void end(error_code cause);
    /// The same for who does not know the queue.
    void give_up(error_code cause);
    void on_cancel(asio::cancellation_type type);
    /// Its owner holds the lock: completes with a further lease. Nothing happens if that is over.
    /// `last`: the queue looks further then; otherwise the caller sees to it.
    void join(tenure& held, bool last = true);

    // For the wait queue, which makes the attempts of all that wait in it.
    /// An attempt was sent while this one was the first.
    void on_attempt_sent(time_point usable_until) noexcept { fsm_.on_attempt_sent(usable_until); }
    /// What that came to, unless it was granted. The same of another one's attempt that was sent
    /// after this began, if it is overdue: it has waited for that.
    void on_attempt_answered(attempt_answer answer, error_code cause);
    /// Completes with the lease.
    void deliver(lease granted, time_point now, grant_kind how);
    /// It has to wait for another holder.
    void tell_of_wait() const;

    [[nodiscard]] std::shared_ptr<target const> const& on() const noexcept { return what_.on; }
    [[nodiscard]] std::optional<owner> const& who() const noexcept { return what_.who; }
    /// Of one that does not wait in a queue.
    [[nodiscard]] holder_id const& id() const noexcept { return *alone_->id; }
    [[nodiscard]] lease_terms const& terms() const noexcept { return what_.terms; }
    /// Of one that asks a node of a quorum.
    [[nodiscard]] ballot const* vote() const noexcept { return what_.vote.get(); }
    /// After what time it takes over a lock without an end; zero: never.
    [[nodiscard]] nanos orphan_after() const noexcept { return what_.orphan_after; }
    [[nodiscard]] holds::holder holder() const noexcept {
        return {what_.terms, what_.who, holder_executor_};
    }
    [[nodiscard]] time_point started() const noexcept { return started_; }
    [[nodiscard]] bool in_flight() const noexcept { return fsm_.in_flight(); }
    /// Its time is up, and the server has not answered since it began.
    [[nodiscard]] bool overdue() const noexcept { return fsm_.overdue() && !fsm_.done(); }
    /// Waits in a queue; otherwise it makes its attempt by itself.
    [[nodiscard]] bool waits() const noexcept { return !alone_; }
    /// Its owner has the other side of the lock with this holder id: it has nothing to wait for.
    [[nodiscard]] holder_id const* beside() const noexcept {
        return alone_ && alone_->beside ? &*alone_->beside : nullptr;
    }
    [[nodiscard]] bool brief() const noexcept { return is_brief(what_.how_long, what_.limit); }

    // Where it is kept; used by the acquisitions and the wait queue.
    wait_queue* queue = nullptr;
    bool has_waited = false;
    /// It is kept, and not in a queue.
    [[nodiscard]] bool listed() const noexcept { return is_linked() && !queue; }

private:
    void on_answer(exec_result const& result);
    void on_granted(acquisitions::reading const& read, time_point now);
    void let_others_join();
    [[nodiscard]] bool share(time_point now);
    [[nodiscard]] bool look_at_other_side();
    void try_again(attempt_answer answer, bool at_once);
    void on_time_up();
    void arm_limit(nanos limit);
    /// Carries out a verdict that did not come with an answer.
    void end_with(acquire_fsm::verdict verdict, lease joined = {}, bool last = true);
    void carry_out(
        acquire_fsm::verdict verdict,
        lease granted = {},
        time_point now = lease_clock::now(),
        grant_kind how = grant_kind::uncontended
    );
    void tell_of_end(
        acquire_fsm::verdict_kind what,
        error_code why,
        lease const& granted,
        nanos waited,
        grant_kind how
    );
    [[nodiscard]] observer::acquisition observed() const noexcept {
        return {number_, what_.on->lock, has_waited};
    }

    acquisitions& all_;
    std::shared_ptr<client_context> client_;
    request what_;
    guarded_executor holder_executor_;
    pending_handler<error_code, lease> handler_;
    acquire_fsm fsm_;
    // What makes its attempts by itself has more than what waits.
    struct by_itself {
        std::optional<holder_id> id = {};
        std::optional<holder_id> beside = {};
        std::optional<acquisitions::sent> sent = {};
        std::optional<timer> pause = {};
        backoff pauses = {millis{50}, backoff::refusals};
    };
    std::unique_ptr<by_itself> alone_;
    time_point started_;
    // For the observer.
    std::uint64_t number_;
    std::unique_ptr<timer> limit_;
};

}  // namespace holdfast::detail

#endif
