#ifndef HOLDFAST_TEST_SIMULATION_WORLD_HPP
#define HOLDFAST_TEST_SIMULATION_WORLD_HPP

#include "simulation/choices.hpp"
#include "simulation/process.hpp"
#include "simulation/random.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// What an event acts upon. Two events that act upon different things have the same effect in
/// either order, and none of them needs to be tried before the other.
struct site {
    static constexpr std::uint32_t everything = 0;  // otherwise the number of a process
    static constexpr std::uint32_t server = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t nothing = server - 1;  // it only looks

    std::uint32_t where = everything;
    /// Events of one stream happen in their order.
    void const* stream = nullptr;

    [[nodiscard]] bool conflicts_with(site const& other) const noexcept {
        return where != nothing && other.where != nothing &&
               (where == everything || other.where == everything || where == other.where);
    }
};

/// The processes, what will happen to them, and the one time that is true. All chance is drawn from
/// one seed: the same seed gives the same run.
class world {
public:
    world(std::uint64_t seed, bool traced);
    world(world const&) = delete;
    world& operator=(world const&) = delete;
    ~world();

    /// The world that this thread is in.
    [[nodiscard]] static world& current() noexcept;

    [[nodiscard]] nanos now() const noexcept { return now_; }
    [[nodiscard]] random_source& dice() noexcept { return dice_; }

    /// Takes the decisions from now on; null: the dice do.
    void set_choices(choices* chooser) noexcept { chooser_ = chooser; }
    /// One of 0 … n - 1, of which the dice prefer none.
    [[nodiscard]] std::size_t choose(std::size_t n, choice what) {
        return n < 2 ? 0 : chooser_ ? chooser_->choose(n, what) : dice_.below(n);
    }
    /// The dice say yes in `percent` of a hundred cases.
    [[nodiscard]] bool chance(std::size_t percent, choice what) {
        return chooser_ ? chooser_->choose(2, what) == 1 : dice_.chance(percent);
    }

    /// `what` happens at `when`, or now if that is past.
    template <class F>
    void at(nanos when, F&& what, site on = {}) {
        push_event(when, task{std::forward<F>(what)}, on);
    }
    template <class F>
    void after(nanos delay, F&& what, site on = {}) {
        at(now_ + delay, std::forward<F>(what), on);
    }
    void wake_at(nanos when, std::shared_ptr<waiting_timer> const& waiting);

    /// Runs one handler, or lets time go on to the next event; false if nothing is left.
    bool step();
    /// Until nothing is ready, and no event is due before `when`, which is then the time.
    void run_until(nanos when);
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    /// Nothing runs before time goes on.
    [[nodiscard]] bool at_rest() const noexcept { return runnable_.empty(); }
    /// Grows with each handler that runs, and with each event that changes something.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
    /// When the next event of this kind is due.
    [[nodiscard]] nanos next_change() const noexcept;

    /// Calls `f` as if it were a handler that runs on this lane.
    template <class F>
    void within(lane& on, F f) {
        struct leave {
            world& of;
            ~leave() {
                of.running_ = nullptr;
                of.running_on_ = nullptr;
            }
        } const left{*this};
        running_ = on.of;
        running_on_ = &on;
        f();
    }

    /// Whose handler runs, or whose clock is looked at.
    [[nodiscard]] process* running() const noexcept { return running_; }
    [[nodiscard]] lane* running_on() const noexcept { return running_on_; }

    /// What was promised does not hold. The first one counts; the run ends soon.
    void violation(std::string text);
    [[nodiscard]] std::string const& first_violation() const noexcept { return violation_; }
    [[nodiscard]] bool failed() const noexcept { return !violation_.empty(); }

    /// Everything that happens leaves its mark here.
    void mark(std::uint64_t what) noexcept { hash_ = (hash_ ^ what) * 0x100000001b3U; }
    void mark(std::string_view what) noexcept;
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

    [[nodiscard]] bool traced() const noexcept { return traced_; }
    void trace(process const* who, std::string_view what) const;

    /// Handlers of one lane run in the order in which they became ready.
    void set_in_order(bool in_order) noexcept { in_order_ = in_order; }

private:
    friend class process;
    friend class view_of;

    struct event {
        nanos when;
        std::uint64_t order;
        task what;
        site on;
        std::shared_ptr<waiting_timer> timer;
        std::uint64_t generation = 0;

        [[nodiscard]] bool cancelled() const noexcept;
        [[nodiscard]] bool changes_something() const noexcept {
            return on.where != site::nothing && !cancelled();
        }
    };
    struct later {
        bool operator()(event const& a, event const& b) const noexcept {
            return a.when != b.when ? a.when > b.when : a.order > b.order;
        }
    };

    void push_event(nanos when, task what, site on);
    void push_event(event made);
    [[nodiscard]] event pop_event();
    [[nodiscard]] std::size_t choose_event();
    [[nodiscard]] lane& choose_lane();
    void list(lane& which);
    void unlist(lane& which) noexcept;
    void run_one();

    // What is due within this time happens in any order when that is searched.
    static constexpr nanos same_instant{10us};

    random_source dice_;
    choices* chooser_ = nullptr;
    nanos now_{0};
    std::vector<event> events_;
    std::vector<lane*> runnable_;
    process* running_ = nullptr;
    lane* running_on_ = nullptr;
    std::uint64_t hash_ = 0xcbf29ce484222325U;
    std::uint64_t steps_ = 0;
    std::uint64_t changes_ = 0;
    std::uint64_t next_order_ = 0;
    std::string violation_;
    bool traced_;
    bool in_order_ = false;
    world* outer_;
};

/// Within its scope, clocks are those of `whose`.
class view_of {
public:
    explicit view_of(process& whose) noexcept
        : in_{whose.in()},
          before_{std::exchange(in_.running_, &whose)} {}
    view_of(view_of const&) = delete;
    view_of& operator=(view_of const&) = delete;
    ~view_of() { in_.running_ = before_; }

private:
    world& in_;
    process* before_;
};

template <class F>
void executor::execute(F&& f) const {
    auto& whose = *on_->of;
    if (!never_ && whose.in().running_on() == on_) {
        std::decay_t<F> function{std::forward<F>(f)};
        std::move(function)();
        return;
    }
    own_business const own;
    whose.enqueue(*on_, task{std::forward<F>(f)});
}

}  // namespace holdfast::sim

#endif
