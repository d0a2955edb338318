#ifndef HOLDFAST_ACQUIRE_ACQUISITIONS_HPP
#define HOLDFAST_ACQUIRE_ACQUISITIONS_HPP

#include "acquire/client_channel.hpp"
#include "acquire/looks.hpp"
#include "acquire/op_list.hpp"
#include "acquire/wait_queues.hpp"
#include "core/acquire_fsm.hpp"
#include "core/quorum_clock.hpp"
#include "lease/holds.hpp"
#include "lease/successors.hpp"
#include "protocol/backend.hpp"
#include "protocol/hand_over_message.hpp"
#include "protocol/primitive.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/lease.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace holdfast::detail {

class acquire_op;
class joint_attempt;
class quorum_lines;

/// The acquisitions of a client that are not over: those that wait in queues, those that make one
/// attempt, and those of each owner. Used on the client's strand; it is a part of the client.
class acquisitions final : private successors {
public:
    acquisitions(client_context& client, holds& held);
    ~acquisitions();

    void enter(std::shared_ptr<acquire_op> op, time_point now);
    void leave(acquire_op& op);
    struct attempt {
        target const& on;
        holder_id const& id;
        lease_terms const& terms;
        /// Becomes true when the operation withdraws the attempt, or has the lock by other means.
        std::shared_ptr<bool const> over;
        /// How many tokens a grant takes.
        std::uint32_t tokens = 1;
        /// The entry in the server's queue that it asks for if it is refused: the time to claim the
        /// lock. Zero: none.
        millis window{0};
        /// Its place, if it had one.
        former_place had = {};
        /// It takes over a lock that has no end, if that is still like this.
        orphan const* orphan_seen = nullptr;
        /// It is one of several that are sent together.
        joint_attempt* with = nullptr;
        /// Its owner has the other side of the lock with this holder id.
        holder_id const* beside = nullptr;
        /// Of a node of a quorum: the token that all its nodes should give.
        fencing_token proposed = {};
        /// How many permits the waiters say there are. Zero: they do not say it.
        std::int64_t limit = 0;
    };
    /// Sends an attempt.
    void exec(attempt const& what, exec_handler&& handler);
    /// What an attempt will ask for that not every user has the right to.
    struct rights {
        bool hand_over;
        bool learning;
    };
    [[nodiscard]] rights rights_for(target const& on, lease_terms const& terms) const noexcept {
        return {client_.hands_over(on), terms.learned && client_.learns()};
    }
    /// What an attempt was sent with.
    struct sent {
        lease_terms terms;
        time_point at;
        rights with;
        std::int64_t limit = 0;
    };
    struct reading {
        attempt_answer answer;
        attempt_reply reply;
        error_code cause;
        /// What the lock was granted with.
        sent by;
    };
    /// What the answer to an attempt means.
    [[nodiscard]] reading read(
        target const& on,
        exec_result const& result,
        sent const& by,
        time_point now
    );
    /// Whether what was granted to an attempt of these terms is long enough for this operation,
    /// which may be another one than the attempt was made for.
    [[nodiscard]] static bool suffices(
        acquire_op const& op,
        lease_terms const& asked,
        reading const& granted,
        time_point now
    );
    /// `tokens` is how many the attempt asked for.
    [[nodiscard]] lease add_hold(
        acquire_op const& op,
        holder_id const& id,
        reading const& granted,
        std::uint32_t tokens,
        time_point now
    );
    /// A lease on a hold that others of this client have; empty if the server has to be asked.
    /// `waited`: since before the hold was granted. Those that come later do not pass this client's
    /// waiters on the other side.
    [[nodiscard]] lease share(acquire_op const& op, bool waited, time_point now);
    /// Frees in the background what an attempt may have been granted, or may be granted yet.
    void withdraw(acquire_op const& op);
    /// Frees what a holder id may have, and takes it out of the server's queue: it has `window` to
    /// claim the lock there. Zero: it is not in the queue.
    void give_up(
        std::shared_ptr<target const> on,
        holder_id const& id,
        lease_terms const& terms,
        millis window
    );
    /// The acquisitions of the same target and owner that wait, in the order of their arrival.
    [[nodiscard]] std::vector<std::shared_ptr<acquire_op>> waiting_like(acquire_op const& op) const;

    /// Attempts can be made for `those`, or no more.
    void on_connected(client_context::some const& those);
    void on_disconnected(client_context::some const& those);
    void end_all(error_code cause);
    void end_all(error_code cause, client_context::some const& those);
    /// A lock was freed by this client. `notified`: the message went out. Otherwise the log says
    /// which permission is missing.
    void on_freed(target const& on, bool notified);
    /// A request to give a lock back was answered, or will not be.
    void on_given_back(std::shared_ptr<target const> const& on, released const& what);
    /// Something was said of a lock on this client's channel.
    void on_message(hand_over_message const& message);
    /// Places in the server's queues can be had from now on, or not any more.
    void on_hand_over_changed();
    /// The server's user has not the rights.
    void on_hand_over_denied();
    [[nodiscard]] client_channel& channel() noexcept { return channel_; }
    /// Refuses what comes from now on.
    void close() noexcept { closed_ = true; }
    [[nodiscard]] bool closed() const noexcept { return closed_ || client_.in_forked_child(); }
    void clear() noexcept;

    /// Acquisitions that wait while no request about their locks can be sent.
    struct stranded {
        std::size_t count = 0;
        /// That of the acquisition that has waited longest, and when it began.
        std::string lock = {};
        time_point since = time_point::max();

        /// Adds the acquisitions of a lock, of which the first began then.
        void add(target const& on, time_point began, std::size_t how_many);
    };
    [[nodiscard]] stranded out_of_reach() const;
    [[nodiscard]] std::size_t waiters_of(target const& on) const noexcept;
    [[nodiscard]] std::size_t waiters_of_name(target const& on) const noexcept {
        return queues_.waiters_of_name(on);
    }
    [[nodiscard]] client_context& client() const noexcept { return client_; }
    [[nodiscard]] holds& held() const noexcept { return held_; }
    [[nodiscard]] wait_queues& queues() noexcept { return queues_; }

    // Of the quorums whose first node is this client's:
    [[nodiscard]] quorum_clock& nodes_clock() noexcept { return nodes_clock_; }
    [[nodiscard]] quorum_lines& lines() noexcept { return *lines_; }

private:
    [[nodiscard]] waiters waiting_for(target const& on) const noexcept override;
    [[nodiscard]] lease_terms const* next_terms(target const& on) const noexcept override;
    void take(hold& of) override;
    [[nodiscard]] std::optional<primitive::queue_entry> next_entry(target const& on) override;
    void on_held(hold& of) noexcept override;
    void on_gone(target const& on) override;
    void on_lost(hold const& of) override;

    struct same_owner {
        // The name in the key is this target's.
        std::shared_ptr<target const> keeps;
        // Weak, so that an acquisition that could not be listed elsewhere does no harm here.
        std::list<std::weak_ptr<acquire_op>> waiting;
    };

    [[nodiscard]] bool is_grant(primitive const& speaks, script_reply const& said);
    void read_reply(target const& on, reading& read, time_point now);
    void warn_of_limit(target const& on, reading const& read);
    void read_forbidden(reading& read);
    void pass_on(hand_over_message const& message);
    [[nodiscard]] nanos time_to_claim(target const& on, millis window) const;
    void list_owner(std::shared_ptr<acquire_op> const& op);
    void unlist_owner(acquire_op& op) noexcept;
    void try_singles();

    client_context& client_;
    holds& held_;
    wait_queues queues_;
    op_list singles_;
    std::unordered_map<owned, same_owner, owned_hash> owners_;
    std::optional<timer> singles_timer_;
    client_channel channel_;
    looks looks_;
    // Semaphores of which a warning was logged that they have another limit than a waiter said.
    std::unordered_set<std::string> other_limits_;
    quorum_clock nodes_clock_;
    std::unique_ptr<quorum_lines> lines_;
    bool closed_ = false;
};

}  // namespace holdfast::detail

#endif
