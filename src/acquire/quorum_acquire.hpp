#ifndef HOLDFAST_ACQUIRE_QUORUM_ACQUIRE_HPP
#define HOLDFAST_ACQUIRE_QUORUM_ACQUIRE_HPP

#include "acquire/acquisitions.hpp"
#include "acquire/own_lock_watch.hpp"
#include "acquire/quorum_keeper.hpp"
#include "acquire/quorum_line.hpp"
#include "acquire/quorum_node.hpp"
#include "core/quorum_acquire_fsm.hpp"
#include "core/quorum_tally.hpp"
#include "core/quorum_wait.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/pending_handler.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/quorum_lease.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::detail {

/// The driver of one acquisition of a quorum: asks all nodes at once, and gives back what does not
/// come to a majority. Used on the strand of the client that leads; what each node is asked runs on
/// that of its client.
class quorum_acquire final : public std::enable_shared_from_this<quorum_acquire>,
                             public quorum_waiter {
public:
    using node = quorum_node;
    struct request {
        /// The client of the first one leads.
        std::vector<node> nodes;
        patience how_long = patience::unlimited;
        nanos limit{0};
        std::optional<owner> who;
    };

    quorum_acquire(
        std::shared_ptr<client_context> lead,
        request what,
        guarded_executor holder_executor,
        pending_handler<error_code, quorum_lease> handler
    );

    /// In the initiating function: the handler's cancellation slot is filled there.
    void accept_cancellation();
    void start();

private:
    using step = quorum_acquire_fsm::step;

    struct part {
        /// Its acquisition, until it is over.
        std::weak_ptr<acquire_op> asked;
        std::shared_ptr<ballot> vote;
        lease held;
    };

    void perform(quorum_acquire_fsm::action const& next);
    void enter_line();
    void leave_line();
    void begin_round();
    [[nodiscard]] bool are_different_servers() const;
    void ask(std::size_t which, time_point now);
    void on_answer(std::size_t which, error_code ec, lease given);
    void judge();
    void write_back();
    void wait_for_stragglers();
    void retry();
    void arm_retry();
    [[nodiscard]] time_point look_for_own_at() const noexcept;
    void begin_round_or_look();
    void arm_limit(time_point at);
    [[nodiscard]] bool may_reach_majority(time_point now) const noexcept;
    [[nodiscard]] std::size_t valid_parts() const noexcept;
    void on_time_up();
    void on_cancel(asio::cancellation_type type);
    void on_turn() override;
    void on_news(std::size_t which) override;
    void on_newcomer(bool brief) override;
    void on_busy() override;
    void on_ended(error_code cause) override;
    void cancel_what_is_asked(asio::cancellation_type type);
    void give_back();
    void deliver();
    [[nodiscard]] quorum_lease make_lease(std::shared_ptr<quorum_line> line);
    void finish(error_code ec);
    void end();
    [[nodiscard]] acquisitions& leading() const noexcept { return *what_.nodes.front().all; }

    std::shared_ptr<client_context> lead_;
    request what_;
    guarded_executor holder_executor_;
    pending_handler<error_code, quorum_lease> handler_;
    quorum_acquire_fsm fsm_;
    quorum_wait wait_;
    quorum_tally tally_;
    time_point started_;
    time_point round_began_{};
    std::vector<part> parts_;
    // The greatest one that was heard of.
    fencing_token last_token_;
    std::shared_ptr<quorum_line> line_;
    std::optional<quorum_line::place> place_;
    std::optional<timer> limit_;
    std::optional<timer> pause_;
    own_lock_watch own_lock_;
    std::shared_ptr<quorum_keeper> keeper_;
    // What was asked in an earlier round is not wanted any more.
    std::uint64_t round_ = 0;
    bool sent_ = false;
    bool waits_for_stragglers_ = false;
    // Since its last round began, another one relies on the next.
    bool asked_again_ = false;
};

}  // namespace holdfast::detail

#endif
