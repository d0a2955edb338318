#ifndef HOLDFAST_TEST_SIMULATION_ORACLE_HPP
#define HOLDFAST_TEST_SIMULATION_ORACLE_HPP

#include "protocol/reply.hpp"
#include "simulation/counting_judge.hpp"
#include "simulation/fair_judge.hpp"
#include "simulation/hand_over_judge.hpp"
#include "simulation/permit_judge.hpp"
#include "simulation/queue_judge.hpp"
#include "simulation/reading_judge.hpp"
#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <holdfast/lease.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Of events of the oracle: they change nothing.
inline constexpr site only_looks{site::nothing};

/// Knows the true time and what is on the server, sees every lease, and says what is wrong.
class oracle {
public:
    /// A lease in somebody's hands.
    struct belief {
        process* of;
        lane* on;
        holdfast::lease const* held;
        std::string lock;
        std::uint64_t token;
        std::string holder;
        std::int64_t permits = 1;
        /// By its process' clock.
        nanos since{0};
        nanos delivered_at{0};
        /// The shortest that it can be, and the part of it that is kept as `loss_margin`.
        nanos lease{0};
        double margin_part = 0.1;
        /// From when a renewal is due until the lease is lost, if it is not answered.
        nanos time_to_renew{0};
        nanos request_timeout{0};
        bool learned = false;
        /// It is renewed until it is released.
        bool endless = false;
        /// It may not be valid after that, by its process' clock.
        nanos longest_until = nanos::max();
        /// When it was last seen not to be lost.
        nanos seen_at{0};
        bool was_in_doubt = false;
        bool was_lost = false;
        bool told = false;
    };
    using belief_ref = std::list<belief>::iterator;

    /// What was asked for.
    struct lease_kind {
        /// It may be one of several leases of one grant.
        bool owned = false;
        bool learned = false;
        /// Of a semaphore.
        std::int64_t permits = 1;
        /// Zero: no limit.
        nanos max_hold{0};
        /// Zero: the lease of the schedule.
        nanos lease{0};
        double margin_part = 0.1;
        double drift = 0.01;
        double renew_at = 1.0 / 3.0;
        nanos request_timeout{3s};
        /// It is renewed until it is released, or never without the holder's doing.
        bool endless = false;
        bool is_renewed = true;
        /// When the acquisition began, in true time; less than 0: it is not known.
        nanos asked_at{-1};

        /// The longest time for which a holder may rely on it at its beginning.
        [[nodiscard]] nanos usable() const noexcept;
        /// The shortest one of a lease that is not renewed, where nothing keeps the client from its
        /// work.
        [[nodiscard]] nanos shortest_beginning() const noexcept;
    };

    struct waiter {
        process* of;
        std::string lock;
        nanos since;
        /// It waits until it gets the lock.
        bool patient;
        /// It stands behind those of its client who came before it.
        bool in_order;
        /// It takes several locks one by one, and may have this one while it waits for another.
        bool of_several;
    };
    using waiter_ref = std::list<waiter>::iterator;

    oracle(world& in, server& of);

    /// The longest time for which a lock may be free while somebody waits for it, undisturbed.
    void set_slowest_wake_up(nanos limit) noexcept { slowest_wake_up_ = limit; }
    [[nodiscard]] nanos slowest_wake_up(std::string_view lock) const {
        // Where places are kept, those who are silent are waited for, too.
        bool const waits = is_fair(lock) || is_read_write(lock) || is_pool(lock);
        return slowest_wake_up_ + (waits ? 2 * queue_.patience() : 0ns);
    }
    void set_lease(nanos lease) noexcept { lease_ = lease; }
    /// Nothing fails.
    void set_quiet() noexcept { slowest_recovery_ = 0ns; }
    /// Whether nothing has kept a client of this process from its work for so long, and for as long
    /// as it takes to make up for a fault before that.
    [[nodiscard]] bool healthy_for(process const& of, nanos how_long) const noexcept;

    void reached(sometimes what) noexcept { ++reached_[static_cast<std::size_t>(what)]; }
    [[nodiscard]] sometimes_counts const& reached() const noexcept { return reached_; }
    [[nodiscard]] hand_over_judge& hand_overs() noexcept { return hand_overs_; }
    [[nodiscard]] queue_judge& queue() noexcept { return queue_; }
    [[nodiscard]] permit_judge& permits() noexcept { return permits_; }
    [[nodiscard]] counting_judge& counting() noexcept { return counting_; }

    // What the users see.
    belief_ref on_delivered(
        process& of,
        lane& on,
        std::string const& lock,
        holdfast::lease const& held,
        lease_kind kind
    );
    void on_parted(belief_ref of);
    /// `when` in true time.
    void on_told(belief& of, nanos when);
    waiter_ref on_waits(
        process& of,
        std::string const& lock,
        bool patient,
        bool in_order,
        bool of_several = false
    );
    void on_waits_no_more(waiter_ref of, bool granted);
    [[nodiscard]] bool is_waited_for(std::string_view lock) const;
    /// One that was woken may have been cancelled: the others' turn.
    void on_cancelled(process const& of, std::string const& lock);
    /// A lease that its holder finds lost.
    void on_lost(loss_reason why, belief* of = nullptr);
    /// The client of this process ends: it may leave behind what it cannot give back in time.
    void on_closed(process const& of) { processes_[of.number()] = nullptr; }
    /// Whether "busy" is a right answer to this process' question: it was told so since it asked,
    /// or it has the lock itself.
    [[nodiscard]] bool busy_is_right(process const& of, std::string const& side, nanos asked);
    [[nodiscard]] bool holds_on_server(std::string const& lock, std::string const& holder);

    // What the faults do.
    /// Whoever holds this lock now (or any lock, if empty) loses it through no fault of ours, and
    /// without a notification: those who wait look again when they were told that the lease would
    /// end.
    void excuse(std::string const& lock);
    /// From now on this process may take an answer for that to another request. An error says
    /// nothing of what it answers.
    void on_answers_shift(std::uint32_t process) { shifted_.insert(process); }
    void on_disturbance_starts() { ++disturbances_; }
    void on_disturbance_ends();
    [[nodiscard]] bool disturbed() const noexcept { return disturbances_ > 0; }
    /// A fault without a duration.
    void on_disturbance() { last_disturbance_ = in_.now(); }
    [[nodiscard]] nanos last_disturbance() const noexcept { return last_disturbance_; }
    /// The server's clock was stepped.
    void on_clock_step() noexcept {
        last_step_ = in_.now();
        queue_.on_clock_step();
    }
    /// The counter's order is not promised any more.
    void forget_tokens() { tokens_excused_ = true; }
    /// No script of ours has changed what is free of it.
    void on_maybe_free(std::string const& lock);
    /// Somebody who is not of this library took the lock, or gave it back.
    void on_other_holder(std::string const& lock, bool took);
    /// Or without an expiry.
    void on_endless_holder(std::string const& lock);
    /// Which then got one.
    void on_endless_limited(std::string const& lock);
    /// Another server is the primary once `promote` was called, and may have less than the one
    /// before.
    ///
    /// Asynchronous replication loses the last grants and renewals. What follows is explained by
    /// it, and nothing else is: whoever had a lock that the new primary does not know of, or knows
    /// of for less time, may believe in it until the former primary would have let it go, and not
    /// once he has had time to learn of the failover. `lock_delay` keeps others out for so long.
    void on_failover(std::function<void()> const& promote);
    /// The lock's slot is at another node of a cluster now.
    void on_slot_moved(std::string const& lock);
    void set_lock_delay(nanos delay) noexcept { lock_delay_ = delay; }
    /// What is given out is what a replica has.
    void set_replicated() noexcept { replicated_ = true; }
    /// The process is gone, and with it whoever waited or held there.
    void on_killed(process const& of);

    void check(std::string const& side);

private:
    struct truth {
        std::uint64_t last_token = 0;
        nanos free_since{-1};
        // When it went to another holder without being free. Not once it was given back after that.
        nanos passed_on_at{-1};
        // Somebody left it without an expiry.
        std::optional<nanos> endless_since;
        bool freed_in_silence = false;
        // When its data were last lost without a notification.
        nanos forgotten_at{-1};
        // By the first token: those that a holder may use, and the holder.
        struct tokens {
            std::uint64_t last;
            std::string holder;
        };
        using token_map = std::map<std::uint64_t, tokens>;
        // By client: a former primary may have given one what the new one gives another.
        std::map<std::string, token_map, std::less<>> granted;
        // Where tokens go back, those that were given before are others.
        void give_tokens(std::uint64_t first, std::uint64_t last, std::string const& holder) {
            auto& to = granted[std::string{client_of(holder)}];
            to.erase(to.lower_bound(first), to.upper_bound(last));
            to[first] = {last, holder};
        }
        /// Nothing if the client was not granted it.
        [[nodiscard]] std::string const* holder_of(std::string_view client, std::uint64_t token)
            const;
        // A change of the primary that no client could see has taken the counter back. Tokens up to
        // this one may be given out again.
        std::uint64_t given_again = 0;
        std::set<std::uint64_t> used;
        // Of a lease that was given back, or lost.
        std::uint64_t newest_ended = 0;
        // Who had it after the last script.
        std::string holder_now;
        std::uint64_t counter = 0;
        std::map<std::string, nanos, std::less<>> granted_at;
        // By holder: when it was released, and whether the last grant was that of a request which
        // came once more, or after its client had given it up.
        std::map<std::string, nanos, std::less<>> released_at;
        std::set<std::string, std::less<>> granted_late;
        // By holder: its release was refused for good.
        std::set<std::string, std::less<>> release_denied;
        std::map<std::string, int, std::less<>> executions;
        std::map<std::string, std::uint64_t, std::less<>> granted_over;  // holder, connection
        std::map<std::string, std::uint64_t, std::less<>> released_over;
        // By holder: those that the server did not know the script of, and that come again.
        std::map<std::string, int, std::less<>> renewals_to_come;
        std::set<std::string, std::less<>> delivered;
        // By holder: when it last had a lease that was not over.
        std::map<std::string, nanos, std::less<>> used_until;
        std::string last_holder;
        std::uint32_t last_process = 0;
    };

    void judge_token(
        truth& known,
        std::string const& lock,
        holdfast::lease const& held,
        bool owned
    );
    void on_script(script_event const& what);
    void on_stray_script(script_event const& what);
    void on_kept_after_failover(std::string const& lock, std::string const& holder);
    void on_lost_writes(std::string const& holder, nanos until, bool gone);
    /// The new primary was asked, and does not know of the holder.
    void on_missing_after_failover(std::string const& holder);
    void on_told_busy(script_event const& what, detail::script_reply const& said);
    [[nodiscard]] std::optional<nanos> kept_until(
        std::string const& lock,
        std::string const& holder
    );
    [[nodiscard]] std::vector<std::string> holders_of(std::string const& lock);
    [[nodiscard]] bool lost_in_failover(std::string const& holder, process const& of) const;
    void judge_reason(loss_reason why, belief const& of);
    void judge_overlap(belief const& one, belief const& other);
    void judge_delay(script_event const& what, std::string const& holder);
    void on_answer(std::uint32_t process, value const& answer);
    void on_granted(
        truth& of,
        script_event const& what,
        std::string const& holder,
        std::uint64_t first,
        std::uint64_t last
    );
    void on_released(truth& of, script_event const& what);
    void on_tokens(
        truth& of,
        script_event const& what,
        std::string const& holder,
        std::uint64_t first,
        std::uint64_t last
    );
    void on_taken_over(truth& of, std::string const& lock);
    void look_at_holder(truth& of, script_event const& what);
    [[nodiscard]] std::uint64_t counter_of(std::string_view lock);
    void on_renewed(truth const& of, script_event const& what);
    void on_held(std::string const& lock);
    /// So that whoever waits can have it: of a semaphore, all permits.
    [[nodiscard]] bool is_free(std::string const& lock);
    void watch_waiters(std::string const& lock, nanos when);
    void watch_deadline(belief_ref of);
    void check_deadline(std::uint64_t serial);
    void judge_length(belief const& one, lease_kind const& kind);
    void judge_end(belief const& one);
    void look_at_end(belief& one);
    void watch_given_back(belief const& one, nanos ends);
    void check_given_back(std::uint32_t number, std::string const& side, std::string const& holder);
    [[nodiscard]] bool keeps_on_server(std::string const& side, std::string const& holder);
    void check_truth(belief const& one);
    void on_pool_script(script_event const& what);
    void check_sum(std::string const& pool, std::int64_t taken);
    void check_later(std::string const& lock);
    /// A multi-lock that is not granted yet may have it.
    [[nodiscard]] bool takes_beside_others(process const& who, std::string_view lock) const;
    [[nodiscard]] bool misled(belief const& one, nanos by) const;
    [[nodiscard]] static bool kept_from_running(belief const& one, nanos from, nanos to);
    [[nodiscard]] bool excused(belief const& one) const;
    /// It has a lease that a failover has taken, and has no way to know that.
    [[nodiscard]] bool believes_in_vain(process const& of, std::string_view lock) const;
    [[nodiscard]] std::string describe(belief const& one) const;

    void judge_order(waiter const& granted);
    /// The holder of whom a process has this token; nothing if it was not granted that.
    [[nodiscard]] std::string const* holder_of(
        truth const& known,
        std::uint64_t token,
        process const& of
    ) const;

    // Ten times what the busiest of a hundred thousand schedules needs at once, and what many
    // waiters that keep their places need while others hold.
    [[nodiscard]] std::uint64_t most_scripts() const noexcept {
        return 3'000 + static_cast<std::uint64_t>(in_.now() / 20ms);
    }

    world& in_;
    server& server_;
    hand_over_judge hand_overs_;
    queue_judge queue_;
    fair_judge fair_;
    permit_judge permits_;
    counting_judge counting_;
    reading_judge reading_;
    nanos slowest_wake_up_{12s};
    nanos lease_{0};
    // New connections, their checks and timeouts after the worst.
    nanos slowest_recovery_{12s};
    std::uint64_t scripts_ = 0;
    std::list<belief> beliefs_;
    std::map<std::uint64_t, belief_ref> by_serial_;
    std::uint64_t next_serial_ = 0;
    std::list<waiter> waiters_;
    std::map<std::string, truth, std::less<>> truths_;
    std::multimap<std::string, std::string> held_;  // nonce of an answer that says so, lock
    std::map<std::pair<std::uint32_t, std::string>, nanos> busy_;
    // When one was refused a lock, and until when it was held.
    struct busy_answer {
        nanos at;
        nanos until;
        bool queues;
    };
    std::map<std::pair<std::uint32_t, std::string>, busy_answer> told_;
    std::set<std::pair<std::uint32_t, std::string>> passed_on_;
    std::set<std::pair<std::uint32_t, std::string>> subscribed_;
    std::set<std::string, std::less<>> excused_;
    // What a failover has taken from a holder.
    struct lost_writes {
        nanos until;  // the former primary had kept the lock for him until then
        nanos since;
        bool gone = false;    // the lock, not only some time
        bool stray = false;   // a former primary gave it to him, or went on giving
        bool unseen = false;  // the primary is one that was it before
        bool moved = false;   // the lock is at a server of which the client has heard no failover
        bool ended = false;   // the former primary has said that it is not his any more
    };
    std::map<std::string, lost_writes, std::less<>> lost_;
    std::optional<nanos> failed_over_at_;
    // The processes that were primaries. One that is again, is to clients the server that they
    // knew: those that have not met the one between see no failover, and it may remember that it
    // was met.
    std::set<std::string> was_primary_;
    bool known_again_ = false;
    // It got its place back so soon that a client which was granted something before does not look
    // at its clock.
    bool back_at_once_ = false;
    // When it last got its place back between two looks of those who have leases or wait.
    nanos unseen_at_{-1};
    nanos lock_delay_{0};
    bool replicated_ = false;
    sometimes_counts reached_{};
    int disturbances_ = 0;
    nanos last_disturbance_{0};
    nanos last_step_{-1h};
    std::map<std::string, std::uint32_t, std::less<>> clients_;  // client id, process
    // None: its client is closed. A lease that is delivered after that is given back by nobody.
    std::map<std::uint32_t, process const*> processes_;
    std::set<std::uint32_t> shifted_;
    // When such a process was last denied something: maybe its release, as far as it knows.
    std::map<std::uint32_t, nanos> denied_at_;
    bool tokens_excused_ = false;
};

}  // namespace holdfast::sim

#endif
