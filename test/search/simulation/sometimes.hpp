#ifndef HOLDFAST_TEST_SIMULATION_SOMETIMES_HPP
#define HOLDFAST_TEST_SIMULATION_SOMETIMES_HPP

#include "simulation/deployment.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::sim {

/// What a search must have come across to be worth anything: rare states, each of which some
/// schedules have to reach.
#define HOLDFAST_SOMETIMES(X)                                                                   \
    X(granted, "an acquisition was granted")                                                    \
    X(handed_over, "a waiter got the lock from another process")                                \
    X(handed_over_directly, "a release gave the lock to the next client")                       \
    X(grant_late, "a message that gave a lock away came late")                                  \
    X(grant_early, "a message that gave a lock away came before the reply with the place")      \
    X(grant_lost, "a message that gave a lock away was lost with its connection")               \
    X(grant_repeated, "a message that gave a lock away came twice")                             \
    X(release_late, "a release ran after its client had closed the connection")                 \
    X(release_repeated, "a release ran once more while its successor had the lock")             \
    X(withdrawal_late, "a withdrawal ran after its client had closed the connection")           \
    X(withdrawal_repeated, "a withdrawal ran once more")                                        \
    X(receiver_stopped, "a lock was given to a client that was stopped or gone")                \
    X(releaser_stopped, "a releaser was stopped or gone before its receiver claimed the lock")  \
    X(dead_passed_over, "a client that was gone was passed over in the queue")                  \
    X(clock_forward_unclaimed, "the server's clock went forward while a lock was not claimed")  \
    X(clock_back_unclaimed, "the server's clock went back while a lock was not claimed")        \
    X(queue_outlives, "a lock was deleted while clients queued for it")                         \
    X(granted_in_turn, "a fair lock was granted while others waited for it")                    \
    X(silent_passed_over, "a waiter that was silent was passed over")                           \
    X(permits_in_turn, "permits were granted while others waited for them")                     \
    X(permits_beside, "several holders had permits at the same time")                           \
    X(permits_taken, "permits were taken")                                                      \
    X(permits_busy, "a try found too few permits")                                              \
    X(permits_withdrawn, "permits that nobody wanted were given back")                          \
    X(withdrawn_in_vain, "an attempt was withdrawn that had taken nothing")                     \
    X(permits_lost, "a process was gone while it had permits")                                  \
    X(count_unknown, "permits or a count-down were not answered")                               \
    X(latch_opened, "a latch opened")                                                           \
    X(latch_passed, "somebody passed a latch")                                                  \
    X(reader_granted_in_turn, "a reader was granted while others waited")                       \
    X(writer_granted_in_turn, "a writer was granted while others waited")                       \
    X(several_read, "a reader was granted beside others")                                       \
    X(hold_shared, "readers of a client shared a hold")                                         \
    X(read_beside_writing, "an owner that writes was granted a read lease")                     \
    X(would_deadlock, "an owner that reads asked to write")                                     \
    X(two_versions, "a client that does not queue got the lock while others queued")            \
    X(turn_of_others, "clients that do not queue had a turn")                                   \
    X(busy_try, "a try ended because the lock was busy")                                        \
    X(time_up, "a limited wait ended without the lock")                                         \
    X(joined, "an owner got a further lease")                                                   \
    X(taken_together, "several locks were taken by one script")                                 \
    X(taken_apart, "several locks were taken one by one")                                       \
    X(cancelled_waiting, "a waiter was cancelled")                                              \
    X(cancelled_late, "a cancellation came too late: the lease was delivered")                  \
    X(forwarded, "a woken waiter was cancelled, and another of its process was granted")        \
    X(granted_after_unknown, "an attempt that was not answered was granted, and accepted")      \
    X(withdrawn, "an attempt that nobody wanted was withdrawn on the server")                   \
    X(executed_late, "a script ran after its client had closed the connection")                 \
    X(executed_twice, "a script ran twice")                                                     \
    X(ghost, "a late attempt took the lock for nobody")                                         \
    X(not_known, "the server did not know a script")                                            \
    X(wrong_answer, "an answer did not belong to its request")                                  \
    X(silence, "a connection was dropped because nothing answered")                             \
    X(refused, "the server refused a script")                                                   \
    X(denied, "the server's rules denied something")                                            \
    X(in_doubt, "a lease was in doubt")                                                         \
    X(recovered, "a lease in doubt was held again")                                             \
    X(renewed_elsewhere, "a lease was renewed on another connection than it was granted on")    \
    X(renewed_together, "several leases were renewed by one script")                            \
    X(resubscribed, "a subscription was confirmed again")                                       \
    X(lost_expired, "a lease was lost: it expired")                                             \
    X(lost_taken, "a lease was lost: another holder has it")                                    \
    X(lost_deleted, "a lease was lost: its key is gone")                                        \
    X(lost_unreachable, "a lease was lost: no renewal was confirmed")                           \
    X(lost_max_hold, "a lease was lost: max_hold is over")                                      \
    X(lost_max_renewals, "a lease was lost: it was renewed max_renewals times")                 \
    X(lost_client_stopped, "a lease was lost: the client was stopped")                          \
    X(lost_late, "a lease was found lost by a holder that had been kept from running")          \
    X(release_unknown, "a release was not answered")                                            \
    X(release_lost, "a release found that the lease had been lost")                             \
    X(overlap_explained, "two leases were valid after the server had lost data or time")        \
    X(killed_holding, "a process was killed while it held a lock")                              \
    X(destroyed_holding, "a client was destroyed while it had leases")                          \
    X(learned_lease, "the server worked out a lease from usual holds")                          \
    X(endless_holder, "another tool left a lock without an expiry")                             \
    X(taken_over, "a lock without an expiry was taken over")                                    \
    X(clock_fault, "the server's clock was stepped while a lock was held")                      \
    X(other_holder, "a holder that is not of this library had the lock")                        \
    X(failed_over, "a replica was promoted")                                                    \
    X(writes_lost, "a holder had a lock that the promoted replica did not know of")             \
    X(time_lost, "a promoted replica kept a lock for less time than was believed")              \
    X(come_back, "a promoted replica still had a lock that had been given back")                \
    X(stray_grant, "a former primary granted a lock")                                           \
    X(survived_failover, "a lease that had lost time was renewed at the new primary")           \
    X(lost_failed_over, "a lease was lost: its server was failed over")                         \
    X(overlap_failed_over, "two leases were valid after a failover")                            \
    X(grants_held_back, "nobody was granted a lock until lock_delay had passed")                \
    X(redirected, "a node of a cluster said that another one has a slot")                       \
    X(asked_elsewhere, "a request was sent on behind ASKING")                                   \
    X(keys_apart, "the keys of a request were at two nodes")                                    \
    X(moved_while_held, "a slot went to another node with a lock that somebody had")            \
    X(moved_while_waited_for, "a slot went to another node while somebody waited for its lock") \
    X(channel_withdrawn, "a subscription ended because its slot had another node")              \
    X(split_vote, "servers of a quorum granted a lock to different processes")                  \
    X(not_reached, "too few servers of a quorum answered")                                      \
    X(all_granted, "all servers of a quorum granted a lock")                                    \
    X(few_granted, "a majority of a quorum granted a lock, and others did not")                 \
    X(token_written_back, "a token was written back to a server of a quorum")                   \
    X(granted_after_forgetting, "a quorum granted a lock after a server had lost its data")     \
    X(lost_in_quorum, "a lease of a quorum was lost")

enum class sometimes : std::size_t {
#define X(name, text) name,
    HOLDFAST_SOMETIMES(X)
#undef X
};

inline constexpr std::array sometimes_texts{
#define X(name, text) std::string_view{text},
    HOLDFAST_SOMETIMES(X)
#undef X
};

/// Whether schedules of this deployment can come across it.
[[nodiscard]] constexpr bool can_reach(deployment at, sometimes what) noexcept {
    if (at == deployment::single) {
        return what < sometimes::failed_over;
    }
    if (at == deployment::quorum) {
        return what >= sometimes::split_vote || what == sometimes::granted ||
               what == sometimes::joined || what == sometimes::busy_try ||
               what == sometimes::time_up || what == sometimes::cancelled_waiting ||
               what == sometimes::cancelled_late || what == sometimes::executed_late ||
               what == sometimes::executed_twice || what == sometimes::wrong_answer ||
               what == sometimes::release_unknown || what == sometimes::killed_holding;
    }
    if (what >= (at == deployment::cluster ? sometimes::split_vote : sometimes::redirected)) {
        return false;
    }
    // Nothing is counted there.
    return what < sometimes::permits_taken || what > sometimes::latch_passed;
}

using sometimes_counts = std::array<std::uint64_t, sometimes_texts.size()>;

}  // namespace holdfast::sim

#endif
