#ifndef HOLDFAST_TEST_SIMULATION_WORLD_HPP
#define HOLDFAST_TEST_SIMULATION_WORLD_HPP

#include "simulation/random.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::sim {

namespace asio = boost::asio;
using nanos = std::chrono::nanoseconds;
using namespace std::chrono_literals;

class process;
class world;

/// Within its scope the simulator works for itself, not the library: what is counted or made to
/// fail there, is not here.
class own_business {
public:
    own_business() noexcept { ++depth_; }
    own_business(own_business const&) = delete;
    own_business& operator=(own_business const&) = delete;
    ~own_business() { --depth_; }
    [[nodiscard]] static bool any() noexcept { return depth_ > 0; }

private:
    inline static thread_local int depth_ = 0;
};

/// A function to be run once, or dropped.
class task {
public:
    task() = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, task>)
    explicit task(F&& f)
        : body_{std::make_unique<holder<std::remove_cvref_t<F>>>(std::forward<F>(f))} {}

    void operator()() {
        auto const body = std::move(body_);
        body->run();
    }

private:
    struct base {
        virtual ~base() = default;
        virtual void run() = 0;
    };
    template <class F>
    struct holder final : base {
        explicit holder(F f) : function{std::move(f)} {}
        void run() override { std::move(function)(); }
        F function;
    };

    std::unique_ptr<base> body_;
};

/// What runs one thing at a time: a thread, or a strand with a thread of its own. Of what is ready
/// in all lanes of all processes the world's dice choose what runs next.
struct lane {
    process* of;
    std::uint32_t number;
    std::vector<task> ready;
    bool blocked = false;
    std::chrono::nanoseconds blocked_since{0};
    bool listed = false;
    std::size_t place = 0;
};

/// The executor of a lane.
class executor {
public:
    explicit executor(lane& on) noexcept : on_{&on} {}
    executor(executor const& other) noexcept;
    executor(executor&& other) noexcept;
    executor& operator=(executor const& other) noexcept;
    executor& operator=(executor&& other) noexcept;
    ~executor();

    template <class F>
    void execute(F&& f) const;

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept;
    [[nodiscard]] asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept {
        return never_ ? asio::execution::blocking_t{asio::execution::blocking.never}
                      : asio::execution::blocking_t{asio::execution::blocking.possibly};
    }
    [[nodiscard]] asio::execution::outstanding_work_t query(asio::execution::outstanding_work_t
    ) const noexcept {
        return tracked_
                   ? asio::execution::outstanding_work_t{asio::execution::outstanding_work.tracked}
                   : asio::execution::outstanding_work_t{asio::execution::outstanding_work.untracked
                     };
    }
    [[nodiscard]] executor require(asio::execution::blocking_t::never_t) const {
        return {*on_, true, tracked_};
    }
    [[nodiscard]] executor require(asio::execution::blocking_t::possibly_t) const {
        return {*on_, false, tracked_};
    }
    [[nodiscard]] executor require(asio::execution::outstanding_work_t::tracked_t) const {
        return {*on_, never_, true};
    }
    [[nodiscard]] executor require(asio::execution::outstanding_work_t::untracked_t) const {
        return {*on_, never_, false};
    }

    friend bool operator==(executor const& a, executor const& b) noexcept {
        return a.on_ == b.on_ && a.never_ == b.never_ && a.tracked_ == b.tracked_;
    }

private:
    executor(lane& on, bool never, bool tracked) noexcept;

    lane* on_;
    bool never_ = false;
    bool tracked_ = false;
};

struct waiting_timer;

/// What keeps handlers, and gives them up when its process ends.
class keeper {
public:
    virtual void drop() noexcept = 0;

protected:
    ~keeper() = default;
};

/// One process with its clock. It may be paused, suspended, and destroyed at any time.
class process final : public asio::execution_context {
public:
    /// `rate`: how fast its clocks run; 1 is true.
    process(world& in, std::uint32_t number, double rate);
    process(process const&) = delete;
    process& operator=(process const&) = delete;
    ~process();

    [[nodiscard]] world& in() const noexcept { return in_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// A lane of its own.
    [[nodiscard]] lane& new_lane();
    [[nodiscard]] asio::any_io_executor executor_of(lane& on) { return executor{on}; }

    /// What `lease_clock` says here.
    [[nodiscard]] nanos clock() const noexcept;
    /// The true time at which `clock()` will say so.
    [[nodiscard]] nanos true_time_of(nanos clock) const noexcept;

    /// Nothing runs (SIGSTOP). Time goes on, and timers come due.
    void pause();
    /// As `pause`, and the clock of timers stands still (a suspended machine).
    void suspend();
    void resume();
    /// How long it was suspended in all, by its clock: timers are late by that.
    [[nodiscard]] nanos slept() const noexcept { return slept_; }
    [[nodiscard]] bool paused() const noexcept { return paused_; }
    void block(lane& which);
    void unblock(lane& which);
    /// It is being destroyed as by a kill: what it does in its last moments reaches nobody.
    [[nodiscard]] bool dying() const noexcept { return dying_; }
    void kill() noexcept { dying_ = true; }

    /// How long neither the process nor the lane was kept from running, in true time.
    [[nodiscard]] nanos free_since() const noexcept { return freed_.back(); }
    /// Whether something that had been kept from running went on in that time.
    [[nodiscard]] bool freed_between(nanos from, nanos to) const noexcept {
        return std::any_of(freed_.begin(), freed_.end(), [&](nanos at) {
            return from <= at && at <= to;
        });
    }
    [[nodiscard]] std::int64_t outstanding_work() const noexcept { return work_; }
    [[nodiscard]] bool idle() const noexcept;

    // For timers.
    void add(waiting_timer& waiting);
    void remove(waiting_timer& waiting) noexcept;
    [[nodiscard]] nanos steady() const noexcept;
    void arm(std::shared_ptr<waiting_timer> const& waiting);
    [[nodiscard]] std::size_t timers() const noexcept { return timers_.size(); }

    void add(keeper& one) { keepers_.push_back(&one); }
    void remove(keeper& one) noexcept { std::erase(keepers_, &one); }

private:
    friend class executor;
    friend class world;

    void enqueue(lane& on, task what);
    void relist();

    world& in_;
    std::uint32_t number_;
    double rate_;
    nanos offset_;
    // How much the clock of timers is behind.
    nanos slept_{0};
    nanos suspended_at_{-1};
    std::vector<nanos> freed_{0ns};
    std::vector<std::unique_ptr<lane>> lanes_;
    std::vector<waiting_timer*> timers_;
    std::vector<keeper*> keepers_;
    std::int64_t work_ = 0;
    bool paused_ = false;
    bool dying_ = false;
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

    /// `what` happens at `when`, or now if that is past.
    template <class F>
    void at(nanos when, F&& what) {
        push_event(when, task{std::forward<F>(what)});
    }
    template <class F>
    void after(nanos delay, F&& what) {
        at(now_ + delay, std::forward<F>(what));
    }

    /// Runs one handler, or lets time go on to the next event; false if nothing is left.
    bool step();
    /// Until nothing is ready, and no event is due before `when`, which is then the time.
    void run_until(nanos when);
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] std::size_t events() const noexcept { return events_.size(); }

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
    };
    struct later {
        bool operator()(event const& a, event const& b) const noexcept {
            return a.when != b.when ? a.when > b.when : a.order > b.order;
        }
    };

    void push_event(nanos when, task what);
    void list(lane& which);
    void unlist(lane& which) noexcept;
    void run_one();

    random_source dice_;
    nanos now_{0};
    std::vector<event> events_;
    std::vector<lane*> runnable_;
    process* running_ = nullptr;
    lane* running_on_ = nullptr;
    std::uint64_t hash_ = 0xcbf29ce484222325U;
    std::uint64_t steps_ = 0;
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
