#ifndef HOLDFAST_LEASE_KEEP_ALIVE_HPP
#define HOLDFAST_LEASE_KEEP_ALIVE_HPP

#include "core/lease_terms.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::detail {

/// Something that has to be looked after on its holder's executor, from time to time.
class sleeper : public boost::intrusive::set_base_hook<> {
public:
    sleeper() = default;
    sleeper(sleeper const&) = delete;
    sleeper& operator=(sleeper const&) = delete;

    /// Its time has come. Called on the holder's strand.
    /// @returns when it wants to be called again; nothing if never.
    virtual std::optional<time_point> on_due() = 0;
    /// The context of its executor is being destroyed: it is not looked after any more.
    virtual void on_executor_gone() noexcept = 0;
    /// Keeps it alive. Called only while it is looked after.
    virtual std::shared_ptr<sleeper> share() noexcept = 0;

protected:
    ~sleeper() = default;

private:
    friend class keep_alive;
    friend struct wakes_earlier;

    // Guarded by the mutex of the keep-alive.
    time_point wakes_at_ = time_point::max();
    bool looked_after_ = false;
};

struct wakes_earlier {
    bool operator()(sleeper const& a, sleeper const& b) const noexcept {
        return a.wakes_at_ < b.wakes_at_;
    }
};

/// One coroutine with one `steady_timer`, on a strand of an executor, for all the leases whose
/// holders use that executor. A holder that blocks its executor blocks this too, so that its leases
/// end.
///
/// The coroutine ends when nothing is left to look after: it is work of the holder's context.
///
/// @par Thread safety   Safe.
class keep_alive : public std::enable_shared_from_this<keep_alive> {
public:
    explicit keep_alive(guarded_executor executor);

    /// Looks after `one` from now on. False if the coroutine, or its context, has ended.
    [[nodiscard]] bool add(sleeper& one, time_point at);
    /// Starts the coroutine; once. `on_end` is called when it ends.
    /// @returns false if the context is being destroyed. Then nothing is started.
    /// @throws std::exception if there is no memory for it.
    [[nodiscard]] bool start(std::function<void()> on_end);
    /// `one` is due at `at`, if that is earlier than what it waits for.
    void wake_at(sleeper& one, time_point at);
    /// Does not wait for a call that is under way.
    void remove(sleeper& one) noexcept;

    [[nodiscard]] bool ended();
    [[nodiscard]] bool is_on(asio::any_io_executor const& executor) const noexcept {
        return executor_.get() == executor;
    }
    [[nodiscard]] asio::execution_context& context() const noexcept { return *context_; }

private:
    friend class keep_alives;
    class guard;
    using sleepers = boost::intrusive::multiset<
        sleeper,
        boost::intrusive::compare<wakes_earlier>,
        boost::intrusive::constant_time_size<false>>;

    static asio::awaitable<void> run(guard on);
    [[nodiscard]] std::shared_ptr<sleeper> next_due();
    void call(std::shared_ptr<sleeper> const& due);
    void on_context_gone() noexcept;
    void drop_executors() noexcept;
    // Under the mutex.
    void link(sleeper& one, time_point at) noexcept;
    void ring();

    // Among those of the same context; guarded by the mutex of `keep_alives`.
    std::size_t place_ = 0;
    // It does not change while it is listed, where other threads compare it.
    guarded_executor executor_;
    asio::execution_context* context_;
    std::function<void()> on_end_;

    std::mutex mutex_;
    asio::any_io_executor strand_;
    sleepers sleepers_;
    // When the coroutine will look by itself.
    time_point armed_for_ = time_point::min();
    bool ringing_ = false;
    bool ended_ = false;
    // Used on the strand only. The timer lives in the coroutine, so that it never outlives the
    // executor.
    timer* timer_ = nullptr;
};

}  // namespace holdfast::detail

#endif
