#ifndef HOLDFAST_OPS_ACQUIRE_OP_HPP
#define HOLDFAST_OPS_ACQUIRE_OP_HPP

#include "core/acquire_fsm.hpp"
#include "core/holder_id.hpp"
#include "core/key_names.hpp"
#include "core/lease_terms.hpp"
#include "ops/pending_handler.hpp"
#include "ops/runtime.hpp"

#include <holdfast/lock.hpp>

#include <list>
#include <memory>
#include <optional>

namespace holdfast::detail {

class client_state;
class grant;
class waiting_room;

/// The driver of one acquisition: performs what the machine says and feeds back what comes of it.
/// On the client's strand.
class acquire_op : public std::enable_shared_from_this<acquire_op> {
public:
    acquire_op(
        acquire_request request,
        lease_terms const& terms,
        asio::any_io_executor holder,
        pending_handler<error_code, lease> handler
    );

    /// In the initiating function: the handler's cancellation slot is filled there.
    void accept_cancellation();
    void start();
    /// It is this one's turn, and worth a try.
    void attempt();
    void end(error_code cause);
    /// Its owner holds the lock: completes with a further lease. Nothing happens if that is over.
    void join(grant& held);

    [[nodiscard]] std::shared_ptr<key_names const> const& key() const noexcept {
        return request_.key;
    }
    [[nodiscard]] std::optional<owner> const& who() const noexcept { return request_.who; }
    [[nodiscard]] holder_id const& id() const noexcept { return id_; }
    [[nodiscard]] lease_terms const& terms() const noexcept { return terms_; }
    [[nodiscard]] time_point sent_at() const noexcept { return sent_at_; }
    [[nodiscard]] bool in_flight() const noexcept { return fsm_.in_flight(); }
    /// Waits in a room; otherwise it makes one attempt by itself.
    [[nodiscard]] bool waits() const noexcept { return request_.how_long != patience::one_attempt; }

    // Where it is kept; the client's and the room's business.
    waiting_room* room = nullptr;
    std::list<std::shared_ptr<acquire_op>>::iterator place;
    bool listed = false;
    bool has_waited = false;

private:
    void on_answer(exec_result result);
    void let_others_join(attempt_answer answer);
    void on_cancel(asio::cancellation_type type);
    void on_time_up();
    void arm_limit(nanos limit);
    /// `granted` makes the lease to deliver.
    template <class MakeLease>
    void carry_out(acquire_fsm::verdict verdict, MakeLease granted);
    void carry_out(acquire_fsm::verdict verdict);

    acquire_request request_;
    lease_terms terms_;
    asio::any_io_executor holder_;
    pending_handler<error_code, lease> handler_;
    acquire_fsm fsm_;
    holder_id id_;
    time_point started_;
    time_point sent_at_{};
    std::optional<timer> limit_;
};

}  // namespace holdfast::detail

#endif
