#include "lease/keep_alive.hpp"

#include "runtime/strand.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::detail {

namespace {

// After a call that failed for lack of memory.
constexpr nanos next_try = millis{50};

}  // namespace

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
        of_->on_end_();
        of_->drop_executors();
    }

    [[nodiscard]] keep_alive& of() const noexcept { return *of_; }

private:
    std::shared_ptr<keep_alive> of_;
};

// What is posted never runs inside the call: it would run while its context is kept from being
// destroyed, and perhaps under a mutex.
keep_alive::keep_alive(guarded_executor executor)
    : executor_{std::move(executor)},
      context_{&executor_.context()},
      strand_{asio::require(strand{executor_.get()}, asio::execution::blocking.never)} {}

bool keep_alive::start(std::function<void()> on_end) {
    on_end_ = std::move(on_end);
    // The coroutine may end, and drop these, before the call has returned.
    auto const executor = executor_;
    auto strand = strand_;
    return executor.while_alive([&] {
        asio::co_spawn(std::move(strand), run(guard{shared_from_this()}), asio::detached);
    });
}

bool keep_alive::ended() {
    std::lock_guard const lock{mutex_};
    return ended_;
}

void keep_alive::link(sleeper& one, time_point at) noexcept {
    one.wakes_at_ = at;
    sleepers_.insert(one);
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

bool keep_alive::add(sleeper& one, time_point at) {
    std::lock_guard const lock{mutex_};
    if (ended_) {
        return false;
    }
    if (at < armed_for_) {
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
            // Out of memory: the coroutine ends when its timer does.
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
    if (first.wakes_at_ > lease_clock::now()) {
        armed_for_ = first.wakes_at_;
        return {};
    }
    auto due = first.share();
    sleepers_.erase(sleepers_.begin());
    first.wakes_at_ = time_point::max();
    return due;
}

void keep_alive::call(std::shared_ptr<sleeper> const& due) {
    std::optional<time_point> next;
    try {
        next = due->on_due();
    } catch (std::exception const&) {
        next = lease_clock::now() + next_try;
    }
    std::lock_guard const lock{mutex_};
    if (!due->looked_after_) {
        return;
    }
    if (next || due->wakes_at_ != time_point::max()) {
        link(*due, std::min(next.value_or(time_point::max()), due->wakes_at_));
    } else {
        due->looked_after_ = false;
    }
}

asio::awaitable<void> keep_alive::run(guard on) {
    auto& self = on.of();
    timer sleep{co_await asio::this_coro::executor};
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
        auto wait = sleep.async_wait(asio::as_tuple(asio::deferred));
        co_await std::move(wait);
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
