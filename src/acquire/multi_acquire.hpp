#ifndef HOLDFAST_ACQUIRE_MULTI_ACQUIRE_HPP
#define HOLDFAST_ACQUIRE_MULTI_ACQUIRE_HPP

#include "acquire/acquire_op.hpp"
#include "core/lease_terms.hpp"
#include "core/multi_acquire_fsm.hpp"
#include "protocol/target.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/pending_handler.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/multi_lease.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::detail {

/// The driver of one acquisition of several locks: it has each of them acquired by an operation of
/// its own, and gives back what does not become a part of the whole. Used on the strand of the
/// client that leads; the operations of the members run on those of their clients.
class multi_acquire : public std::enable_shared_from_this<multi_acquire> {
public:
    struct member {
        std::shared_ptr<client_context> client;
        acquisitions* all = nullptr;
        std::shared_ptr<target const> on;
        lease_terms terms;
        /// Its number in the user's order.
        std::size_t named = 0;
    };
    struct request {
        /// In the order in which they are taken.
        std::vector<member> members;
        patience how_long = patience::unlimited;
        nanos limit{0};
        std::optional<owner> who;
        nanos orphan_after{0};
    };

    multi_acquire(
        std::shared_ptr<client_context> lead,
        request what,
        guarded_executor holder_executor,
        pending_handler<error_code, multi_lease> handler
    );

    /// In the initiating function: the handler's cancellation slot is filled there.
    void accept_cancellation();
    void start();

private:
    using step = multi_acquire_fsm::step;

    struct part {
        /// Its acquisition, until it is over.
        std::weak_ptr<acquire_op> asked;
        lease held;
        /// Who is told of its loss.
        std::uint64_t watch = 0;
    };
    /// What asking for all at once has come to so far.
    struct answers {
        std::size_t missing = 0;
        bool busy = false;
        error_code cause;
    };

    /// Runs `f`, whose exceptions end the operation.
    template <class F>
    void guarded(F f);
    void perform(multi_acquire_fsm::action const& next);
    [[nodiscard]] bool may_ask_together() const;
    void ask_together();
    void take(std::size_t which);
    std::shared_ptr<acquire_op> make_op(
        std::size_t which,
        lease_terms const& terms,
        patience how_long,
        std::shared_ptr<joint_attempt> with
    );
    void on_answer(std::size_t which, error_code ec, lease given);
    void on_answer_together(error_code ec, bool granted);
    void on_taken();
    void watch(std::size_t which);
    void on_lost(std::size_t which);
    void on_cancel(asio::cancellation_type type);
    void arm_limit();
    /// Of those that are held, the valid ones that come first.
    [[nodiscard]] std::size_t intact() const noexcept;
    [[nodiscard]] nanos left() const noexcept;
    void cancel_what_is_asked(asio::cancellation_type type) noexcept;
    void give_back_from(std::size_t first) noexcept;
    [[nodiscard]] multi_lease all_held();
    void deliver();
    void finish(error_code ec);

    std::shared_ptr<client_context> lead_;
    request what_;
    guarded_executor holder_executor_;
    pending_handler<error_code, multi_lease> handler_;
    multi_acquire_fsm fsm_;
    time_point started_;
    std::vector<part> parts_;
    std::optional<timer> limit_;
    answers together_;
    // What was asked for in an earlier round is not wanted any more.
    std::uint64_t round_ = 0;
};

}  // namespace holdfast::detail

#endif
