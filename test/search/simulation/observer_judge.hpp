#ifndef HOLDFAST_TEST_SIMULATION_OBSERVER_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_OBSERVER_JUDGE_HPP

#include "simulation/world.hpp"

#include <holdfast/observer.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::sim {

/// Hears what one client tells its observer. What is promised: each acquisition that begins ends
/// once, each lock that is granted is released once, and connections break that were made.
class observer_judge final : public observer {
public:
    /// `raises`: a quorum raises the tokens of what its nodes have granted.
    observer_judge(world& in, std::uint32_t process, bool raises)
        : in_{in},
          process_{process},
          raises_{raises} {}

    void on_acquire(acquisition const& what) noexcept override;
    void on_wait(acquisition const& what) noexcept override;
    void on_grant(acquisition const& what, grant const& of) noexcept override;
    void on_no_grant(
        acquisition const& what,
        error_code why,
        std::chrono::nanoseconds waited
    ) noexcept override;
    void on_renewal(held_lock const& what, std::chrono::nanoseconds took) noexcept override;
    void on_doubt(held_lock const& what) noexcept override;
    void on_loss(held_lock const& what, loss_reason why) noexcept override;
    void on_release(held_lock const& what, std::chrono::nanoseconds held_for) noexcept override;
    void on_connected(connection const& which) noexcept override;
    void on_disconnected(connection const& which) noexcept override;

    /// The process was killed: it says no more.
    void on_killed() noexcept { killed_ = true; }
    /// The client is gone, and its process goes on.
    void check_ended();

private:
    using held = std::pair<std::string, std::uint64_t>;
    struct times {
        int granted = 0;
        int released = 0;
        int lost = 0;
    };

    void complain(std::string_view what, std::string_view of);
    void end(acquisition const& what, std::chrono::nanoseconds waited);
    [[nodiscard]] held key_of(std::string_view lock, fencing_token token) const;
    times& of(held_lock const& what);

    world& in_;
    std::uint32_t process_;
    bool raises_;
    bool killed_ = false;
    // By number: whether it was said to wait.
    std::map<std::uint64_t, bool> begun_;
    std::uint64_t last_ = 0;
    std::map<held, times> held_;
    std::set<std::pair<std::uint32_t, connection::purpose>> connected_;
};

}  // namespace holdfast::sim

#endif
