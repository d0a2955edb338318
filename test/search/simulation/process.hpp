#ifndef HOLDFAST_TEST_SIMULATION_PROCESS_HPP
#define HOLDFAST_TEST_SIMULATION_PROCESS_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
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
    [[nodiscard]] bool paused() const noexcept { return paused_; }
    void block(lane& which);
    void unblock(lane& which);
    [[nodiscard]] bool any_lane_blocked() const noexcept;
    /// It is being destroyed as by a kill: what it does in its last moments reaches nobody.
    [[nodiscard]] bool dying() const noexcept { return dying_; }
    void kill() noexcept { dying_ = true; }

    /// How long neither the process nor the lane was kept from running, in true time.
    [[nodiscard]] nanos free_since() const noexcept { return freed_.back(); }
    /// How long timers were not late either. Those that sleep through a suspend are for a while.
    [[nodiscard]] nanos punctual_since() const noexcept {
        return std::max(free_since(), late_until_);
    }
    /// Whether something that had been kept from running went on in that time.
    [[nodiscard]] bool freed_between(nanos from, nanos to) const noexcept {
        return std::any_of(freed_.begin(), freed_.end(), [&](nanos at) {
            return from <= at && at <= to;
        });
    }
    /// A request of one of its connections, or a connection that is being made.
    struct sent_request {
        nanos at;
        /// When one that was sent later was answered in time.
        nanos answered_later = nanos::max();
    };
    using request_ref = std::list<sent_request>::iterator;
    request_ref on_request();
    /// It is answered, or will not be.
    void on_answered(request_ref which) noexcept;
    /// Since when something has always waited for an answer; now if nothing does.
    [[nodiscard]] nanos unanswered_since() const noexcept;
    /// Whether a request was not answered in time that was sent between the two, and none that was
    /// sent after it was answered in time before `at`.
    [[nodiscard]] bool had_no_answer(nanos from, nanos to, nanos at) const noexcept;
    /// The answer to a request that was sent since `from` has been waited for so long.
    [[nodiscard]] bool waits_for_answer(nanos from, nanos so_long) const noexcept;
    void on_connects() noexcept;
    /// When it last began to make a connection.
    [[nodiscard]] nanos connects_at() const noexcept { return connects_at_; }
    void on_connected() noexcept;
    void on_not_connected() noexcept;
    /// It makes a connection, has just begun its handshake, or has lately found that it cannot make
    /// it, and pauses.
    [[nodiscard]] bool is_connecting(nanos longest_pause) const noexcept;
    /// A connection has ended, and took what waited for an answer with it.
    void on_connection_lost() noexcept;
    /// When that happened last after so long a silence that a client may give the connection up.
    [[nodiscard]] nanos given_up_at() const noexcept { return given_up_at_; }
    [[nodiscard]] std::int64_t outstanding_work() const noexcept { return work_; }
    [[nodiscard]] bool idle() const noexcept;

    // For timers.
    void add(waiting_timer& waiting);
    void remove(waiting_timer& waiting) noexcept;
    [[nodiscard]] nanos steady() const noexcept;
    void arm(std::shared_ptr<waiting_timer> const& waiting);
    void on_due(std::shared_ptr<waiting_timer> const& waiting);
    [[nodiscard]] std::size_t timers() const noexcept { return timers_.size(); }

    void add(keeper& one) { keepers_.push_back(&one); }
    void remove(keeper& one) noexcept { std::erase(keepers_, &one); }

private:
    friend class executor;
    friend class world;

    void enqueue(lane& on, task what);
    void relist();
    void catch_up(nanos slept);

    world& in_;
    std::uint32_t number_;
    double rate_;
    nanos offset_;
    // How much the clock of timers is behind.
    nanos slept_{0};
    nanos late_until_{0};
    nanos suspended_at_{-1};
    std::vector<nanos> freed_{0ns};
    std::vector<std::unique_ptr<lane>> lanes_;
    std::vector<waiting_timer*> timers_;
    std::vector<keeper*> keepers_;
    std::int64_t work_ = 0;
    int requests_ = 0;
    nanos requests_since_{0};
    nanos answered_at_{0};
    // Those that wait for an answer, or were not answered in time.
    std::list<sent_request> sent_;
    nanos connects_at_{-1h};
    int connecting_ = 0;
    nanos connected_at_{-1h};
    nanos not_connected_at_{-1h};
    nanos given_up_at_{-1h};
    bool paused_ = false;
    bool dying_ = false;
};

}  // namespace holdfast::sim

#endif
