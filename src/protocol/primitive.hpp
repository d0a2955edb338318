#ifndef HOLDFAST_PROTOCOL_PRIMITIVE_HPP
#define HOLDFAST_PROTOCOL_PRIMITIVE_HPP

#include "core/holder_id.hpp"
#include "core/orphan_watch.hpp"
#include "core/usual_hold.hpp"
#include "protocol/call.hpp"
#include "protocol/reply.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/lease_state.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace holdfast::detail {

enum class target_kind : std::uint8_t;
struct target;

/// A client's entry in the server's queue of a lock.
struct queue_place {
    /// The server's time in microseconds when the client came, or a little more: it keeps the
    /// order.
    std::uint64_t score = 0;
    /// The server's time in microseconds when it answered.
    std::uint64_t server_time = 0;
    /// How many were before it then; after a release, 0 if it is known to be the first, else 1.
    std::uint64_t ahead = 0;
};

/// A place that a waiter had: the server may have lost it.
struct former_place {
    /// As of `queue_place`; zero: it had none.
    std::uint64_t score = 0;
    /// For how long the waiter has it.
    std::chrono::microseconds age{0};
    /// How long ago it asked for the last time.
    std::chrono::microseconds silent{0};
};

/// A lease that a script worked out.
struct learned_lease {
    /// What the server was told to keep the lock for; zero: what was asked for.
    std::chrono::milliseconds lease{0};
    /// Zero: it is not known.
    std::chrono::nanoseconds usual_hold{0};
    /// The user may read the usual hold.
    bool allowed = true;
};

/// What the server said to an attempt.
struct attempt_reply {
    enum class kind : std::uint8_t {
        granted,
        /// Another holder has it.
        busy,
        /// The key holds something that is not of this kind.
        corrupt,
        /// It can never have so much: a semaphore has fewer permits.
        too_much,
        /// Nobody has said how many permits the semaphore has.
        no_limit,
    };
    kind what = kind::corrupt;
    /// Of a grant: the first of those that were asked for.
    fencing_token token;
    /// Of a refusal: the time until the next attempt makes sense, which is when the holder's lease
    /// ends, or the waiter has to be heard of again. None: the lease has no end.
    std::optional<std::chrono::milliseconds> remaining;
    /// Of a refusal: the holder's lease has no end.
    bool endless = false;
    /// Of a refusal: the place in the queue, if one was asked for and given.
    std::optional<queue_place> place;
    /// Of a grant after a preflight: the user has the rights that hand-over needs.
    bool may_hand_over = true;
    /// Of a grant: if it was asked for.
    learned_lease learned;
    /// Of a refusal of a `lock`: if it has no end, and one holder.
    std::optional<detail::orphan> orphan = {};
    /// Of a grant that several may have: somebody waits until they have gone.
    bool others_wait = false;
    /// Of a semaphore: how many permits it has.
    std::optional<std::int64_t> limit = {};
    /// Of a semaphore: how many permits had been missing, and were freed by this attempt.
    std::int64_t found_permits = 0;
    /// Of a semaphore: the notification of permits that were freed went out to those who wait.
    bool notified = true;
    // Of a node of a quorum:
    /// Of a refusal: the last token that was taken; zero if there is none.
    fencing_token last_token = {};
    /// In microseconds, when it answered; zero: it did not say.
    std::uint64_t server_time = 0;
};

/// What the server said to a renewal.
struct renew_reply {
    /// `none`, or why the lease is not ours any more.
    loss_reason lost = loss_reason::none;
    /// The first of those that were asked for; zero if there is none.
    fencing_token token;
    /// If tokens were asked for: the number of clients in the queue.
    std::uint64_t waiting = 0;
    /// If tokens were asked for: the number of clients that wait and do not queue.
    std::uint64_t others = 0;
    /// If it was asked for.
    learned_lease learned = {};
    /// The notification went out to those who wait, or none was due: the rest of a semaphore's hold
    /// that has lost a permit is given back.
    bool notified = true;
};

/// What the server said to a release.
struct release_reply {
    /// `none`: it was ours, and is free. Otherwise why it was not ours.
    loss_reason lost = loss_reason::none;
    /// The notification went out to those who wait.
    bool notified = true;
    /// Of the releaser's next entry in the queue, if it asked for one and got it.
    std::optional<queue_place> place;
    /// The lock went to a client that waited for it. Of a fair lock: it is that client's turn, and
    /// it does not listen.
    bool handed_over = false;
    /// That client has so long to claim it.
    std::chrono::milliseconds window{0};
};

/// What `inspect` found.
struct lock_reading {
    enum class kind : std::uint8_t { free, held, corrupt };
    kind what = kind::corrupt;
    /// None: the key has no expiry.
    std::optional<std::chrono::milliseconds> remaining;
    std::string holder;
    std::uint64_t hold_count = 0;
    std::uint64_t last_token = 0;
    /// Those in the server's queue.
    std::uint64_t waiting = 0;
    /// Of a read/write lock: those who have it for reading.
    std::uint64_t readers = 0;
};

/// What `force_release` did.
struct force_release_reply {
    enum class kind : std::uint8_t { was_free, freed, corrupt };
    kind what = kind::corrupt;
    /// The notification went out to those who wait.
    bool notified = true;
};

/// How to speak with a server about one kind of lock: which scripts with which keys and arguments,
/// and what their replies mean. The drivers of acquisitions and leases know no more of a kind.
class primitive {
public:
    using millis = std::chrono::milliseconds;

    /// The server keeps a lock so long, or for a shorter lease, for the client that it was given
    /// to.
    static constexpr millis longest_window{3'000};

    /// What those who wait have in the server's queue.
    enum class places : std::uint8_t {
        none,
        /// The waiters of one client share one. The lock goes from holder to holder without being
        /// free in between, and the client whose turn it is is told that it has it.
        called,
        /// The waiters of one client share one, which is lost if it is not asked for again in time.
        kept,
        /// The same for each waiter.
        kept_by_each,
    };
    [[nodiscard]] virtual places queues() const noexcept = 0;
    [[nodiscard]] bool hands_over() const noexcept { return queues() == places::called; }
    [[nodiscard]] bool keeps_places() const noexcept {
        return queues() == places::kept || queues_each();
    }
    [[nodiscard]] bool queues_each() const noexcept { return queues() == places::kept_by_each; }

    /// Where places are kept: whose turn it is is said on a channel of its own,
    /// `target::waiters()`. A message is the holder id, or `-` where it is nobody's, and 1 if one
    /// on `target::channel()` that comes next says the same, else 0.
    [[nodiscard]] virtual bool names_turns() const noexcept { return false; }

    /// Others may have a lease beside the one that is granted.
    [[nodiscard]] virtual bool is_shared() const noexcept { return false; }

    /// Several holders of one client may have one hold on the server. Only where a grant is shared.
    [[nodiscard]] virtual bool shares_holds() const noexcept { return false; }

    /// The kind of the other side of the same lock, if it has two. What waits on one side is told
    /// on the same channel as what waits on the other. An owner that has the other side is granted
    /// a shared one beside it; for an exclusive one it would wait for itself.
    [[nodiscard]] virtual std::optional<target_kind> other_side() const noexcept {
        return std::nullopt;
    }

    /// Each hold is renewed after so long at the latest, however long its lease is.
    [[nodiscard]] virtual std::chrono::nanoseconds renewed_within() const noexcept {
        return std::chrono::nanoseconds::max();
    }

    /// Where each waiter has a place: the channel on which one who waits with this holder id is
    /// told that the lock is free.
    [[nodiscard]] virtual std::string channel_of_waiter(target const&, holder_id const&) const {
        return {};
    }

    /// An entry in the server's queue: the holder id that its client will have, and how long the
    /// server keeps the lock for that client until it claims it.
    struct queue_entry {
        holder_id id;
        millis window{0};
    };

    /// Has the script work the lease out. The lease of the request is the longest that it can be.
    struct learning {
        millis shortest;
        /// How many usual holds it covers.
        std::int64_t times;
    };

    struct attempt {
        target const& on;
        holder_id const& id;
        millis lease;
        /// How long the token counter is kept after this grant; zero: for ever.
        millis counter_ttl;
        /// Tries each command that a holder will need before anything is written, so that a user
        /// without the right to one fails before the lock is granted.
        bool preflight = false;
        std::chrono::nanoseconds timeout;
        /// How many tokens a grant takes.
        std::uint32_t tokens = 1;
        /// Respects the queue. Without it, the script uses what the first version used.
        bool hand_over = false;
        /// If it is refused: takes a place in the queue, which it loses if it does not claim the
        /// lock within this time. Zero: none.
        millis window{0};
        /// The place it had before.
        former_place had = {};
        std::optional<learning> learned = {};
        /// Where places are kept by asking again: how long a waiter may be silent.
        millis patience{0};
        /// Its owner has the other side of the lock with this holder id.
        holder_id const* beside = nullptr;
        /// Of a node of a quorum: the token that all its nodes should give. Zero: none.
        fencing_token proposed = {};
        /// Of a semaphore: how many permits the waiters say there are. Zero: they do not say it.
        std::int64_t limit = 0;
    };

    [[nodiscard]] virtual call acquire(attempt const& what) const = 0;
    [[nodiscard]] virtual attempt_reply read_acquire(script_reply const& reply) const = 0;

    /// Takes a lock over that is still as it was seen, and has no expiry. It is refused, with no
    /// time remaining, if anything has changed. Not for a learned lease. Only a `lock` reports what
    /// could be taken over; other kinds ask as usual.
    [[nodiscard]] virtual call take_over(attempt const& what, orphan const&) const {
        return acquire(what);
    }

    struct renewal {
        target const& on;
        holder_id const& id;
        /// Zero: it keeps the end that it has.
        millis lease;
        std::chrono::nanoseconds timeout;
        /// Tokens for the next holders of this client. None: only the lease is renewed.
        std::uint32_t tokens = 0;
        millis counter_ttl{0};
        /// Only with tokens.
        std::optional<learning> learned = {};
        /// Tenures that have ended since it was last told.
        usual_hold::report held = {};
    };

    [[nodiscard]] virtual call renew(renewal const& what) const = 0;
    [[nodiscard]] virtual renew_reply read_renew(script_reply const& reply) const = 0;

    /// One lock of several that are renewed by one call.
    struct member {
        target const* on;
        holder_id id;
        millis lease;
    };
    /// All locks may share a call.
    [[nodiscard]] virtual call renew_many(
        std::span<member const> all,
        std::chrono::nanoseconds timeout
    ) const = 0;
    /// What was said about the lock of this number: `none`, or why it is not ours any more. Nothing
    /// if it failed, and only a renewal of its own would say why.
    [[nodiscard]] virtual std::optional<loss_reason> read_renew_many(
        script_reply const& reply,
        std::size_t number
    ) const = 0;

    struct parting {
        target const& on;
        holder_id const& id;
        std::chrono::nanoseconds timeout;
        /// Gives the lock to the next client in the queue.
        bool hand_over = false;
        /// Nobody may be given the lock for now. The release still takes this holder id's entry
        /// out of the queue.
        bool held_back = false;
        /// This holder id's entry is taken out of the queue; it has so long to claim the lock.
        /// Zero: it has none.
        millis window{0};
        /// The releaser's next entry.
        std::optional<queue_entry> next = {};
        millis counter_ttl{0};
        /// Tenures with learned leases that have ended since it was last told.
        usual_hold::report held = {};
        /// Where places are kept by asking again: how long a waiter may be silent.
        millis patience{0};
    };

    [[nodiscard]] virtual call release(parting const& what) const = 0;
    [[nodiscard]] virtual release_reply read_release(script_reply const& reply) const = 0;

    /// `hand_over`: the user may look at the queue.
    [[nodiscard]] virtual call inspect(
        target const& on,
        std::chrono::nanoseconds timeout,
        bool hand_over
    ) const = 0;
    [[nodiscard]] virtual lock_reading read_inspect(script_reply const& reply) const = 0;

    /// `patience`: as of an attempt.
    [[nodiscard]] virtual call force_release(
        target const& on,
        std::chrono::nanoseconds timeout,
        millis patience
    ) const = 0;
    [[nodiscard]] virtual force_release_reply read_force_release(script_reply const& reply
    ) const = 0;

protected:
    ~primitive() = default;
};

}  // namespace holdfast::detail

#endif
