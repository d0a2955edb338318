#ifndef HOLDFAST_ACQUIRE_MULTI_ACQUIRE_HPP
#define HOLDFAST_ACQUIRE_MULTI_ACQUIRE_HPP

#include "acquire/acquire_op.hpp"
#include "acquire/lock_request.hpp"
#include "core/lease_terms.hpp"
#include "core/multi_acquire_fsm.hpp"
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
        /// How long it waits and for whom is the same in all of them.
        lock_request asked;
        /// Its number in the user's order.
        std::size_t named = 0;
    };
    /// In the order in which they are taken.
    using request = std::vector<member>;

    multi_acquire(
        std::shared_ptr<client_context> lead,
        request members,
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
    /// What asking something of all at once has come to so far.
    struct answers {
        std::size_t missing = 0;
        bool busy = false;
        error_code cause;
    };

    void perform(multi_acquire_fsm::action const& next);
    [[nodiscard]] bool may_ask_together() const;
    void ask_together();
    void take(std::size_t which);
    std::shared_ptr<acquire_op> make_op(
        std::size_t which,
        patience how_long,
        std::shared_ptr<joint_attempt> with
    );
    void on_answer(std::size_t which, error_code ec, lease given);
    void on_answer_together(error_code ec, bool granted);
    void on_taken();
    void limit();
    void on_limited(std::size_t which, error_code ec);
    void watch_kept(std::size_t count);
    void on_lost(std::size_t which, loss_reason why);
    void on_cancel(asio::cancellation_type type);
    void arm_limit();
    void on_time_up();
    /// Of those that are held, the valid ones that come first.
    [[nodiscard]] std::size_t intact() const noexcept;
    [[nodiscard]] time_point limit_at() const noexcept;
    [[nodiscard]] nanos left() const noexcept;
    void cancel_what_is_asked(asio::cancellation_type type);
    /// Of the members that are asked for, each on the strand of its client.
    template <class F>
    void for_each_asked(F f);
    void give_back_from(std::size_t first) noexcept;
    [[nodiscard]] multi_lease all_held();
    void deliver();
    void finish(error_code ec, multi_lease granted = {});

    std::shared_ptr<client_context> lead_;
    request members_;
    patience how_long_;
    guarded_executor holder_executor_;
    pending_handler<error_code, multi_lease> handler_;
    multi_acquire_fsm fsm_;
    time_point started_;
    std::vector<part> parts_;
    std::optional<timer> limit_;
    answers together_;
    // How many have not said yet whether their limits have begun.
    std::size_t unlimited_ = 0;
    // What was asked for in an earlier round is not wanted any more.
    std::uint64_t round_ = 0;
};

}  // namespace holdfast::detail

#endif
