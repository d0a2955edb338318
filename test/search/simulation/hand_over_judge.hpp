#ifndef HOLDFAST_TEST_SIMULATION_HAND_OVER_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_HAND_OVER_JUDGE_HPP

#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Sees how locks go from client to client, and says if one got a lock before its turn. A part of
/// the oracle.
class hand_over_judge {
public:
    hand_over_judge(world& in, server& of, std::function<void(sometimes)> reached);

    /// `delivered`: a lease of this holder id was given out.
    /// Before a script that may give the lock to somebody.
    void on_before(std::string_view lock);
    void on_script(script_event const& what, bool delivered);
    /// A former primary did something for the holder, at this time of its clock in µs. It may have
    /// given it a place, or the releaser one under its next holder id.
    void on_stray(std::string_view lock, std::string_view holder, std::int64_t at) {
        auto& known = locks_[std::string{lock}];
        known.came.emplace(holder);
        known.last_stray = static_cast<double>(at) + most_in_an_instant;
    }
    /// A former primary has told a waiter this place. If its clock went back, the place is later
    /// than that clock.
    void on_stray_place(std::string_view lock, std::int64_t place) {
        locks_[std::string{lock}].kept.insert(static_cast<double>(place));
    }
    /// A former primary granted it the lock. Its client gives that back, and asks under another id
    /// before the place of this one is withdrawn.
    void on_stray_grant(std::string_view lock, std::string_view holder) {
        locks_[std::string{lock}].granted_elsewhere.emplace(holder);
    }
    /// A reply, or a message on a channel, has come to this process.
    void on_arrival(std::uint32_t process, value const& message);
    /// The process stands still, is gone, or goes on.
    void on_stopped(std::uint32_t process);
    void on_resumed(std::uint32_t process) { stopped_.erase(process); }
    void on_clock_step(bool back);
    /// The server's user may not do everything: the order is not promised any more.
    void excuse() noexcept { excused_ = true; }

private:
    // Places of one microsecond follow each other.
    static constexpr double most_in_an_instant = 1'000;

    using ids = std::set<std::string, std::less<>>;

    // Before a script.
    struct snapshot {
        std::vector<queue_entry> queue;
        std::string holder;
    };
    struct hand_over {
        std::string to;
        std::uint32_t from;
    };
    struct history {
        snapshot before;
        // Until the receiver claims it.
        hand_over unclaimed{};
        std::map<std::string, nanos, std::less<>> granted_at;
        // Those that were in the queue at any time.
        ids came;
        // Those that were granted the lock.
        ids had_it;
        // By a former primary.
        ids granted_elsewhere;
        // What a waiter states when it comes back to a place that it had.
        std::map<std::string, double, std::less<>> scores;
        // Places that a release has kept for those of its client who wait. Their own request may be
        // late: it is sent to another node of a cluster first.
        std::set<double> kept{};
        // No place that a former primary gave has a later score.
        double last_stray = 0;
    };

    [[nodiscard]] std::string holder_of(std::string_view lock);
    [[nodiscard]] bool listens(std::string_view lock, std::string_view client);
    void on_new_holder(history& known, script_event const& what, std::string const& now);
    void judge_order(history const& known, script_event const& what, std::string const& now);
    [[nodiscard]] static bool takes_place(history const& known, queue_entry const& of);
    void judge_places(history& known, script_event const& what);
    void note_release(script_event const& what, bool delivered);

    world& in_;
    server& server_;
    std::function<void(sometimes)> reached_;
    std::map<std::string, history, std::less<>> locks_;
    std::map<std::string, std::uint32_t, std::less<>> processes_;  // by client id
    std::set<std::uint32_t> stopped_;
    // The nonces of the replies on their way that tell a holder id its place.
    std::map<std::string, std::string, std::less<>> places_;
    ids arrived_;
    bool excused_ = false;
};

}  // namespace holdfast::sim

#endif
