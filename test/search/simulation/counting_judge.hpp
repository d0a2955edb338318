#ifndef HOLDFAST_TEST_SIMULATION_COUNTING_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_COUNTING_JUDGE_HPP

#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

class oracle;

/// Whether a counting semaphore grants no more permits than it has and loses none but those of
/// processes that are gone; and whether a latch is counted down as often as was asked for, and lets
/// nobody pass too early or wait for ever. A schedule has one of each, or none.
class counting_judge {
public:
    static constexpr std::string_view semaphore = "permits";
    static constexpr std::string_view latch = "gate";

    counting_judge(world& in, server& of, oracle& all) : in_{in}, server_{of}, oracle_{all} {}

    /// Makes both. `quiet`: nothing will fail.
    void begin(std::int64_t permits, std::int64_t count, bool quiet);
    [[nodiscard]] bool used() const noexcept { return used_; }
    /// To begin with.
    [[nodiscard]] std::int64_t permits() const noexcept { return first_permits_; }

    /// What somebody asks for, or has.
    struct claim {
        enum class kind {
            asked,      // for permits
            held,       // permits
            withdrawn,  // an attempt, in the background
            returned,   // permits, by a request that is under way
            counted,    // down, likewise
            waiting,    // at the latch
            over,
        };
        process* of;
        kind is;
        std::int64_t number;
        /// It waits until it gets what it wants.
        bool patient;
        nanos since;
    };
    using claim_ref = std::shared_ptr<claim>;

    // What the users see.
    claim_ref on_asks(process& of, std::int64_t permits, bool patient);
    void on_taken(claim_ref const& of);
    void on_busy(claim_ref const& of);
    /// It ended with an error: what it took is given back in the background.
    void on_gave_up(claim_ref const& of);
    /// The request is on its way.
    void on_returns(claim_ref const& of);
    claim_ref on_counts(process& of, std::int64_t times);
    enum class end {
        done,
        not_done,
        unknown,
        /// It was cancelled, and goes on.
        goes_on,
    };
    /// Of a request that gives permits back or counts down. Permits that were not given back are
    /// held again.
    void on_answered(claim_ref const& of, end how);
    claim_ref on_waits(process& of, bool patient);
    void on_waits_no_more(claim_ref const& of);
    void on_passed(claim_ref const& of);
    /// Whether "not open" is a right answer to a look that began then.
    [[nodiscard]] bool closed_is_right(nanos asked) const noexcept {
        return !open_ || open_since_ >= asked || excused_;
    }

    void on_script(script_event const& what);
    void on_gone(process const& of);
    void on_data_lost() noexcept { excused_ = true; }
    /// Nothing fails any more. What is missing because processes are gone is made up for, so that
    /// nobody waits for it. `lenient`: rules may have kept a client from giving back what it took.
    void heal(bool lenient);
    /// What was taken is given back, as far as it ever will be.
    [[nodiscard]] bool settled();
    void on_settled();

private:
    static constexpr std::size_t most_wanted = 2;

    [[nodiscard]] claim_ref add(process& of, claim::kind is, std::int64_t number, bool patient);
    [[nodiscard]] std::int64_t sum(claim::kind is) const;
    [[nodiscard]] std::int64_t number_of(std::string_view key);
    void make_up();
    void tell();
    void look();
    void look_at_permits();
    void look_at_latch();
    void watch(nanos when);
    void watch_again();

    world& in_;
    server& server_;
    oracle& oracle_;
    bool used_ = false;
    bool quiet_ = false;
    bool excused_ = false;
    bool healed_ = false;
    // Rules forbade a message.
    bool silent_ = false;
    std::int64_t first_permits_ = 0;
    std::int64_t permits_ = 0;
    // Of those who are gone: held for certain, or perhaps taken.
    std::int64_t lost_ = 0;
    std::int64_t perhaps_lost_ = 0;
    std::int64_t made_up_ = 0;
    // By number of permits: since when there are so many.
    std::array<nanos, most_wanted + 1> enough_since_{-1ns, -1ns, -1ns};
    std::int64_t count_ = 0;
    std::int64_t counts_begun_ = 0;
    std::int64_t counts_done_ = 0;
    // Somebody who was to count down will not, or perhaps has not.
    bool incomplete_ = false;
    bool opened_by_hand_ = false;
    bool open_ = false;
    nanos open_since_{0};
    std::vector<claim_ref> claims_;
};

}  // namespace holdfast::sim

#endif
