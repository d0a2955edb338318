#include "lease/keep_alive.hpp"

#include "runtime/strand.hpp"
#include "runtime/strand_identity.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>

#include <algorithm>
#include <coroutine>
#include <exception>
#include <utility>

namespace holdfast::detail {

namespace {

// So many are called because one is due: as many renewals as one script takes.
constexpr std::size_t most_called_early = 100;

asio::any_io_executor strand_on(asio::any_io_executor const& executor) {
    return strand_identity(executor) ? executor : asio::any_io_executor{strand{executor}};
}

}  // namespace

void sleeper::set_wake_time(wake_time to) noexcept {
    constexpr millis longest{decltype(early_)::max()};
    wakes_at_ = to.at;
    early_ = std::chrono::duration_cast<decltype(early_)>(
        std::clamp<nanos>(to.at - to.from, nanos{0}, longest)
    );
}

/// Lives as long as the coroutine. If that is destroyed before it has ended, or has begun, its
/// context is.
class keep_alive::guard {
public:
    explicit guard(std::shared_ptr<keep_alive> of) noexcept : of_{std::move(of)} {}
    guard(guard&&) noexcept = default;
    guard& operator=(guard&&) = delete;
    ~guard() {
        if (!of_) {
            return;
        }
        if (!of_->ended()) {
            of_->on_context_gone();
        }
        if (auto const told = of_->observer_.lock()) {
            told->on_end(*of_);
        }
        of_->drop_executors();
    }

    [[nodiscard]] keep_alive& of() const noexcept { return *of_; }

private:
    std::shared_ptr<keep_alive> of_;
};

/// The coroutine begins when it is resumed for the first time. The function that will resume it
/// owns it. If the context is destroyed first, that function destroys the coroutine.
class keep_alive::coroutine {
public:
    struct promise_type {
        coroutine get_return_object() noexcept {
            return coroutine{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        // It ends as if its context were being destroyed.
        void unhandled_exception() const noexcept { *failure = std::current_exception(); }

        bool waits = true;
        std::exception_ptr* failure = nullptr;
    };
    using handle = std::coroutine_handle<promise_type>;

    explicit coroutine(handle of) noexcept : of_{of} {}
    coroutine(coroutine&& other) noexcept : of_{std::exchange(other.of_, {})} {}
    coroutine& operator=(coroutine&&) = delete;
    ~coroutine() {
        if (of_ && of_.promise().waits) {
            of_.destroy();
        }
    }

    template <class... Results>
    void operator()(Results const&...) {
        std::exception_ptr failure;
        of_.promise().waits = false;
        of_.promise().failure = &failure;
        std::exchange(of_, {}).resume();
        // It comes out of what runs the executor.
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

private:
    handle of_;
};

/// Waits for the timer, or until it is cancelled.
class keep_alive::next_wake {
public:
    explicit next_wake(timer& of) noexcept : of_{of} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(coroutine::handle waiting) {
        of_.async_wait(coroutine{waiting});
        // Not before: an exception is thrown in the coroutine, which has to be there.
        waiting.promise().waits = true;
    }
    void await_resume() const noexcept {}

private:
    timer& of_;
};

// What is posted never runs inside the call: it would run while its context is kept from being
// destroyed, and perhaps under a mutex.
keep_alive::keep_alive(guarded_executor executor)
    : executor_{std::move(executor)},
      context_{&executor_.context()},
      strand_{asio::require(strand_on(executor_.get()), asio::execution::blocking.never)} {}

bool keep_alive::start(std::weak_ptr<observer> told) {
    observer_ = std::move(told);
    // The coroutine may end, and drop these, before the call has returned.
    auto const executor = executor_;
    auto const strand = strand_;
    guard until_its_end{shared_from_this()};
    return executor.while_alive([&] { asio::post(strand, run(std::move(until_its_end))); });
}

bool keep_alive::ended() {
    std::lock_guard const lock{mutex_};
    return ended_;
}

// Most often it is the last one: leases are of one length.
void keep_alive::link(sleeper& one, wake_time at) noexcept {
    one.set_wake_time(at);
    sleepers_.insert(sleepers_.end(), one);
}

// If the context is being destroyed, its end is told to all that sleep here.
void keep_alive::ring() {
    if (ended_ || ringing_) {
        return;
    }
    ringing_ = executor_.while_alive([&] {
        asio::post(strand_, [self = shared_from_this()] {
            {
                std::lock_guard const lock{self->mutex_};
                self->ringing_ = false;
            }
            if (self->timer_) {
                self->timer_->cancel();
            }
        });
    });
}

bool keep_alive::add(sleeper& one, wake_time at) {
    std::lock_guard const lock{mutex_};
    if (ended_) {
        return false;
    }
    if (at.at < armed_for_) {
        ring();
    }
    one.looked_after_ = true;
    link(one, at);
    return true;
}

void keep_alive::wake_at(sleeper& one, time_point at) {
    std::lock_guard const lock{mutex_};
    if (!one.looked_after_ || at >= one.wakes_at_) {
        return;
    }
    if (!one.is_linked()) {
        one.wakes_at_ = at;  // it is being called
        return;
    }
    if (at < armed_for_) {
        ring();
    }
    sleepers_.erase(sleepers_.iterator_to(one));
    link(one, at);
}

void keep_alive::remove(sleeper& one) noexcept {
    std::lock_guard const lock{mutex_};
    if (!std::exchange(one.looked_after_, false)) {
        return;
    }
    if (one.is_linked()) {
        sleepers_.erase(sleepers_.iterator_to(one));
    }
    if (sleepers_.empty() && !ended_) {
        try {
            ring();
        } catch (...) {
            // The destructor of a lease may call this. The coroutine ends when its timer does.
        }
    }
}

// With nothing left the coroutine ends.
std::shared_ptr<sleeper> keep_alive::next_due() {
    std::lock_guard const lock{mutex_};
    armed_for_ = time_point::min();
    if (sleepers_.empty()) {
        ended_ = true;
        return {};
    }
    auto& first = *sleepers_.begin();
    bool const may_be_early = called_ > 0 && called_ < most_called_early;
    if ((may_be_early ? first.wakes_from() : first.wakes_at_) > lease_clock::now()) {
        armed_for_ = first.wakes_at_;
        called_ = 0;
        return {};
    }
    ++called_;
    auto due = first.share();
    sleepers_.erase(sleepers_.begin());
    first.wakes_at_ = time_point::max();
    return due;
}

void keep_alive::call(std::shared_ptr<sleeper> const& due) {
    auto const next = due->on_due();
    std::lock_guard const lock{mutex_};
    if (!due->looked_after_) {
        return;
    }
    if (next && next->at <= due->wakes_at_) {
        link(*due, *next);
    } else if (due->wakes_at_ != time_point::max()) {
        link(*due, due->wakes_at_);  // it was woken meanwhile
    } else {
        due->looked_after_ = false;
    }
}

keep_alive::coroutine keep_alive::run(guard on) {
    auto& self = on.of();
    timer sleep{self.strand_};
    struct registration {
        keep_alive& of;
        ~registration() { of.timer_ = nullptr; }
    } const registered{self};
    self.timer_ = &sleep;

    for (;;) {
        if (auto const due = self.next_due()) {
            self.call(due);
            continue;
        }
        if (self.ended()) {
            co_return;
        }
        sleep_until(sleep, self.armed_for_);
        next_wake awake{sleep};
        co_await awake;
    }
}

// They may not outlive the context. They are destroyed outside the mutex: an executor may own its
// context.
void keep_alive::drop_executors() noexcept {
    guarded_executor executor;
    asio::any_io_executor strand;
    std::lock_guard const lock{mutex_};
    std::swap(executor, executor_);
    std::swap(strand, strand_);
}

void keep_alive::on_context_gone() noexcept {
    {
        std::lock_guard const lock{mutex_};
        ended_ = true;
    }
    for (;;) {
        std::shared_ptr<sleeper> left;
        {
            std::lock_guard const lock{mutex_};
            if (sleepers_.empty()) {
                return;
            }
            left = sleepers_.begin()->share();
            left->looked_after_ = false;
            sleepers_.erase(sleepers_.begin());
        }
        left->on_executor_gone();
    }
}

}  // namespace holdfast::detail
