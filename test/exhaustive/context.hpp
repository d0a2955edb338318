#ifndef HOLDFAST_EXHAUSTIVE_CONTEXT_HPP
#define HOLDFAST_EXHAUSTIVE_CONTEXT_HPP

#include "exhaustive/machines.hpp"
#include "exhaustive/scope.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::exhaustive {

/// What has to be reached for the checks to mean anything.
enum class landmark : std::uint8_t {
    granted_at_once,
    granted_after_refusal,
    granted_after_unknown_attempt,
    woken_by_notice,
    woken_by_timer,
    woken_by_renewed_subscription,
    woken_without_subscription,
    wake_up_passed_on,
    renewed,
    doubted,
    recovered,
    lost_unreachable,
    lost_expired,
    lost_max_hold,
    lost_not_ours,
    told_of_loss,
    released_after_loss,
    renewal_answered_after_release,
    late_renewal_answered_after_loss,
    cancelled_while_waiting,
    cancelled_in_flight,
    cancelled_in_total_refused,
    cancelled_in_total_granted,
    attempt_timed_out,
    release_timed_out,
    release_repeated,
    late_grant_refused,
    stray_acquired,
    stray_waited_out,
    crashed_holder_succeeded,
    subscribed_again_before_unsubscribed,
    gave_up,
    attempt_not_sent,
    withdrawn_twice,
    count
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(landmark::count)>
    landmark_names{
        "granted at once",
        "granted after a refusal",
        "granted after an unknown attempt",
        "woken by a notice",
        "woken by the end of the lease it was told of",
        "woken by a renewed subscription",
        "woken without a subscription",
        "wake-up passed on by one that left",
        "renewed",
        "doubted",
        "recovered from doubt",
        "lost: unreachable",
        "lost: expired",
        "lost: max_hold",
        "lost: not ours any more",
        "told of the loss",
        "released after the loss",
        "renewal answered after the release",
        "renewal confirmed after the loss",
        "cancelled while waiting",
        "cancelled in flight",
        "cancelled in total, refused",
        "cancelled in total, granted",
        "attempt timed out",
        "release timed out",
        "release sent again",
        "grant came too late",
        "stray acquire executed",
        "waited for the end of a stray's lease",
        "crashed holder succeeded",
        "subscribed again before the UNSUBSCRIBE was executed",
        "gave up without an answer",
        "attempt not sent",
        "withdrawn twice",
    };

struct violation {
    /// The rule of the specification.
    std::string_view rule;
    std::string what;
};

/// What the steps of a run share.
struct context {
    scope const& of;
    machines& all;
    std::optional<violation> broken;
    std::uint64_t reached = 0;

    void fail(std::string_view rule, std::string_view what) {
        if (!broken) {
            broken = {rule, std::string{what}};
        }
    }
    void expect(bool holds, std::string_view rule, std::string_view what) {
        if (!holds) {
            fail(rule, what);
        }
    }
    void reach(landmark what) noexcept {
        reached |= std::uint64_t{1} << static_cast<unsigned>(what);
    }
    void reach_if(bool here, landmark what) noexcept {
        if (here) {
            reach(what);
        }
    }
};

}  // namespace holdfast::exhaustive

#endif
