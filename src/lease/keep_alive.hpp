#ifndef HOLDFAST_LEASE_KEEP_ALIVE_HPP
#define HOLDFAST_LEASE_KEEP_ALIVE_HPP

#include "core/lease_terms.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <ratio>

namespace holdfast::detail {

/// When a tenure wants to be called.
struct wake_time {
    // Implicit: a plain time is the usual case.
    wake_time(time_point when) noexcept : at{when}, from{when} {}
    wake_time(time_point when, time_point not_before) noexcept : at{when}, from{not_before} {}

    time_point at;
    /// From then on the tenure may be called together with another one.
    time_point from;
};

/// Something that has to be looked after on its holder's executor, from time to time. Each lease
/// has one, so this is small.
class sleeper : public boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>> {
public:
    sleeper() = default;
    sleeper(sleeper const&) = delete;
    sleeper& operator=(sleeper const&) = delete;

    /// Its time has come. Called on the holder's strand.
    /// @returns when it wants to be called again; nothing if never.
    virtual std::optional<wake_time> on_due() = 0;
    /// The context of its executor is being destroyed: it is not looked after any more.
    virtual void on_executor_gone() noexcept = 0;
    /// Keeps it alive. Called only while it is looked after.
    virtual std::shared_ptr<sleeper> share() noexcept = 0;

protected:
    ~sleeper() = default;

private:
    friend class keep_alive;
    friend struct wakes_earlier;

    // Under the mutex of the keep-alive.
    void set_wake_time(wake_time to) noexcept;
    [[nodiscard]] time_point wakes_from() const noexcept { return wakes_at_ - early_; }

    // Guarded by it.
    time_point wakes_at_ = time_point::max();
    // How long before that it may be called together with another one.
    std::chrono::duration<std::uint32_t, std::milli> early_{0};
    bool looked_after_ = false;
};

struct wakes_earlier {
    bool operator()(sleeper const& a, sleeper const& b) const noexcept {
        return a.wakes_at_ < b.wakes_at_;
    }
};

/// One coroutine with one timer, on a strand of an executor, for all the leases whose
/// holders use that executor. A holder that blocks its executor blocks this too, so that its leases
/// end.
///
/// With those that are due it calls some that may be called early: what they want of the server can
/// be asked at once.
///
/// A program may have one for each of 100 000 strands: the coroutine is not an `asio::awaitable`,
/// which takes more than twice the memory.
///
/// The coroutine ends when nothing is left to look after: it is work of the holder's context.
///
/// @par Thread safety   Safe.
class keep_alive : public std::enable_shared_from_this<keep_alive> {
public:
    explicit keep_alive(guarded_executor executor);

    /// Looks after `one` from now on. False if the coroutine, or its context, has ended.
    [[nodiscard]] bool add(sleeper& one, wake_time at);
    /// Told of the end of the coroutine.
    class observer {
    public:
        virtual void on_end(keep_alive const& ended) noexcept = 0;

    protected:
        ~observer() = default;
    };
    /// Starts the coroutine; once.
    /// @returns false if the context is being destroyed. Then nothing is started. That, and an
    /// exception, is an end of the coroutine.
    [[nodiscard]] bool start(std::weak_ptr<observer> told);
    /// `one` is due at `at`, if that is earlier than what it waits for.
    void wake_at(sleeper& one, time_point at);
    /// Does not wait for a call that is under way.
    void remove(sleeper& one) noexcept;

    [[nodiscard]] bool ended();
    [[nodiscard]] bool is_on(asio::any_io_executor const& executor) const noexcept {
        return executor_.get() == executor;
    }
    [[nodiscard]] asio::execution_context& context() const noexcept { return *context_; }
    /// As long as it is listed.
    [[nodiscard]] guarded_executor const& executor() const noexcept { return executor_; }

private:
    friend class keep_alives;
    class guard;
    class coroutine;
    class next_wake;
    using sleepers = boost::intrusive::multiset<
        sleeper,
        boost::intrusive::compare<wakes_earlier>,
        boost::intrusive::constant_time_size<false>>;

    static coroutine run(guard on);
    [[nodiscard]] std::shared_ptr<sleeper> next_due();
    void call(std::shared_ptr<sleeper> const& due);
    void on_context_gone() noexcept;
    void drop_executors() noexcept;
    // Under the mutex.
    void link(sleeper& one, wake_time at) noexcept;
    void ring();

    // Among those that are listed beside it; guarded by the mutex of `keep_alives`.
    std::size_t place_ = 0;
    // It does not change while it is listed, where other threads compare it.
    guarded_executor executor_;
    asio::execution_context* context_;
    std::weak_ptr<observer> observer_;

    std::mutex mutex_;
    // The executor, if that is a strand.
    asio::any_io_executor strand_;
    sleepers sleepers_;
    // When the coroutine will look by itself.
    time_point armed_for_ = time_point::min();
    bool ringing_ = false;
    bool ended_ = false;
    // Used on the strand only. The timer lives in the coroutine, so that it never outlives the
    // executor.
    timer* timer_ = nullptr;
    // Since it slept.
    std::size_t called_ = 0;
};

}  // namespace holdfast::detail

#endif
