#ifndef HOLDFAST_TEST_SIMULATION_QUORUM_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_QUORUM_JUDGE_HPP

#include "simulation/oracle.hpp"
#include "simulation/server.hpp"
#include "simulation/world.hpp"

#include <holdfast/config.hpp>
#include <holdfast/quorum_lease.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace holdfast::sim {

/// Sees who holds the locks that several servers have together. What is promised: a lease of one
/// holder is not valid while that of another one is, and tokens grow with each grant, whatever
/// becomes of a minority of the servers, and whatever they forget in a restart.
class quorum_judge {
public:
    quorum_judge(world& in, server& of, oracle& judge);

    /// From now on scripts are looked at here, and by no other oracle.
    void begin();

    /// A lease that somebody was told of.
    struct belief {
        process* of;
        std::string lock;
        quorum_lease const* held;
        /// Zero: without an owner, and so alone.
        std::size_t owner;
        nanos asked_at;
        /// What was asked for, of each node.
        oracle::lease_kind kind{};
        /// It may not be valid after that, by its process' clock.
        nanos longest_until = nanos::max();
        /// When it was last seen not to be lost.
        nanos seen_at{0};
        bool was_lost = false;
        std::uint64_t serial = 0;
    };
    using belief_ref = std::list<belief>::iterator;

    /// Somebody who does not give up.
    struct waiter {
        process const* of;
        std::string lock;
        nanos since;
        /// The longest time for which the lock may be free meanwhile, undisturbed.
        nanos limit;
        std::uint64_t serial;
    };
    using waiter_ref = std::list<waiter>::iterator;

    waiter_ref on_waits(process const& of, std::string const& lock, config const& settings);
    void on_waits_no_more(waiter_ref of) { waiters_.erase(of); }

    belief_ref on_delivered(belief made);
    /// Whether so many servers were started within `restart_delay` before `when` that there is no
    /// majority without them.
    [[nodiscard]] bool withheld(nanos when, config const& settings) const;
    void on_parted(belief_ref which);
    void on_killed(process const& of);
    /// A server forgot what it had.
    void on_forgotten() noexcept { forgotten_ = true; }

private:
    void on_script(script_event const& what);
    void watch_waiter(std::uint64_t serial, nanos free_since);
    [[nodiscard]] bool is_free(std::string const& lock) const;
    void judge_others(belief_ref made);
    void judge_length(belief const& one);
    void judge_end(belief const& one);
    void look_at_end(belief& one);
    void watch_deadline(belief_ref of);
    void check_deadline(std::uint64_t serial);
    [[nodiscard]] static bool valid(belief const& one);
    [[nodiscard]] static std::string describe(belief const& one);

    world& in_;
    server& server_;
    oracle& judge_;
    std::list<belief> beliefs_;
    std::list<waiter> waiters_;
    std::uint64_t next_serial_ = 0;
    struct last_grant {
        std::uint64_t token = 0;
        process const* to = nullptr;
        std::size_t owner = 0;
        // When it was delivered.
        nanos at{0};
        // The greatest token of another owner.
        std::uint64_t before = 0;
    };
    std::map<std::string, last_grant> last_;
    // By lock and server: the process that it was granted to last.
    std::map<std::string, std::map<machine const*, std::uint32_t>, std::less<>> granted_;
    bool forgotten_ = false;
    std::uint64_t scripts_ = 0;
    nanos moment_began_{0};
    std::uint64_t in_moment_ = 0;
};

}  // namespace holdfast::sim

#endif
