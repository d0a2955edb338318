#ifndef HOLDFAST_WITH_LEASE_HPP
#define HOLDFAST_WITH_LEASE_HPP

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace holdfast {

/// Settings of one `with_lease()` that does not wait for its lock without a limit.
struct with_lease_options {
    /// Those of the acquisition.
    acquire_options acquire = {};

    /// How long to wait for the lock; zero means one attempt. It limits nothing after the grant:
    /// see `acquire_options::max_hold`. None means no limit.
    std::optional<std::chrono::nanoseconds> wait_at_most = std::nullopt;
};

// As `acquire_options`: a temporary of a co_await expression.
static_assert(std::is_trivially_destructible_v<with_lease_options>);

namespace detail {

template <class T>
struct awaited_by;

template <class T, class Executor>
struct awaited_by<asio::awaitable<T, Executor>> {
    using type = T;
};

template <class Body, class Lease>
using body_result = typename awaited_by<std::invoke_result_t<Body&, Lease&>>::type;

inline bool is_cancellation(std::exception_ptr const& failure) noexcept {
    try {
        std::rethrow_exception(failure);
    } catch (boost::system::system_error const& e) {
        return e.code() == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

// A body that was cancelled because of the loss reports the loss; its own exception, if it is
// another, goes first.
inline void report_with_lease(loss_reason lost, std::exception_ptr const& failure) {
    bool const is_lost = lost != loss_reason::none;
    if (failure && !(is_lost && is_cancellation(failure))) {
        std::rethrow_exception(failure);
    }
    if (is_lost) {
        throw boost::system::system_error(
            make_error_code(errc::lease_lost),
            std::string{to_string(lost)}
        );
    }
}

struct no_value {};

/// What came of a body and of the release after it.
template <class Result>
struct outcome {
    std::optional<std::conditional_t<std::is_void_v<Result>, no_value, Result>> value;
    std::exception_ptr failure;
    loss_reason lost = loss_reason::none;
};

// Catches what the body throws, also one that throws instead of returning an awaitable.
template <class Executor, class Body, class Lease, class Result>
asio::awaitable<void, Executor> run_body(Body& body, Lease& held, outcome<Result>& out) {
    try {
        if constexpr (std::is_void_v<Result>) {
            co_await body(held);
        } else {
            Result value = co_await body(held);
            out.value.emplace(std::move(value));
        }
    } catch (...) {
        out.failure = std::current_exception();
    }
}

// A spawned coroutine of its own: it switches its cancellation off to release, which must not show
// in the caller. Everything here runs on one strand.
template <class Executor, class Lock, class Body, class Begin, class Result>
asio::awaitable<void, Executor> run_with_lease(
    Lock on,
    Body& body,
    Begin begin,
    outcome<Result>& out
) {
    constexpr asio::use_awaitable_t<Executor> awaited;
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    auto const executor = co_await asio::this_coro::executor;
    auto acquire = begin(on);
    lease_of<Lock> held = co_await std::move(acquire)(awaited);
    if (!held) {
        // Only a wait with a limit ends so.
        throw boost::system::system_error(asio::error::try_again);
    }

    co_await asio::this_coro::throw_if_cancelled(false);
    auto callers = co_await asio::this_coro::cancellation_state;
    try {
        if (callers.cancelled() != asio::cancellation_type::none) {
            throw boost::system::system_error(asio::error::operation_aborted);
        }
        // Cancels the body: a loss does, and the caller. Shared with the watch, which ends after
        // the release.
        auto const stop = std::make_shared<asio::cancellation_signal>();
        held.wait_lost(asio::bind_executor(executor, [stop](error_code ec, loss_reason) {
            if (!ec) {
                stop->emit(asio::cancellation_type::all);
            }
        }));
        if (callers.slot().is_connected()) {
            callers.slot().assign([stop](asio::cancellation_type type) { stop->emit(type); });
        }
        auto run = asio::co_spawn(
            executor,
            run_body<Executor>(body, held, out),
            asio::bind_cancellation_slot(stop->slot(), asio::deferred)
        );
        co_await std::move(run)(awaited);
        stop->slot().clear();
    } catch (...) {
        out.failure = std::current_exception();
    }
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    // Its error is not needed: the lease knows whether it was lost.
    error_code ignored;
    auto release = held.release(asio::deferred);
    co_await std::move(release)(asio::redirect_error(awaited, ignored));
    out.lost = held.loss();
}

// A strand of the executor, where its type can hold one.
template <class Executor>
Executor one_at_a_time(Executor const& executor) {
    if constexpr (std::convertible_to<asio::strand<Executor>, Executor>) {
        return asio::make_strand(executor);
    } else {
        return executor;
    }
}

// `Body` is a reference to an lvalue, or the type of a copy. `begin` makes the acquisition.
template <class Body, class Lock, class Begin>
auto spawn_with_lease(Lock on, Body body, Begin begin)
    -> std::invoke_result_t<Body&, lease_of<Lock>&> {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    static_assert(
        std::is_lvalue_reference_v<Body> || std::is_trivially_destructible_v<Body>,
        "name it: GCC 12 destroys the captures of a temporary function object twice when it is "
        "part of a co_await expression; write `auto body = ...; co_await with_lease(lock, body);`"
    );
#endif
    using executor_type = typename std::invoke_result_t<Body&, lease_of<Lock>&>::executor_type;
    outcome<body_result<Body, lease_of<Lock>>> out;
    // With several threads, the body and the watch would otherwise run at the same time.
    auto const callers = co_await asio::this_coro::executor;
    auto const executor = one_at_a_time(callers);
    auto run = asio::co_spawn(
        executor,
        run_with_lease<executor_type>(std::move(on), body, begin, out),
        asio::deferred
    );
    co_await std::move(run)(asio::use_awaitable_t<executor_type>{});
    report_with_lease(out.lost, out.failure);
    if constexpr (!std::is_void_v<body_result<Body, lease_of<Lock>>>) {
        co_return std::move(*out.value);
    }
}

template <class Body>
using kept_body = std::conditional_t<std::is_lvalue_reference_v<Body>, Body, std::decay_t<Body>>;

}  // namespace detail

/// Acquires the lock, runs `body(lease&)`, and releases on every path: return, exception,
/// cancellation.
///
/// `on` is a `lock` or anything else that is `lock_like`; with a `multi_lock` the body takes a
/// `multi_lease&`, with a `quorum_lock` a `quorum_lease&`. `body` is a function object that returns
/// an `awaitable`. If the lease is lost while the body runs, the body is cancelled: what it awaits
/// then ends with `operation_aborted`, and it should return soon; `lease::remaining()` tells how
/// soon.
///
/// @par Completion
/// What the body returned. The body runs on a strand of the executor of the coroutine that awaits
/// it; an executor whose type can hold no strand must not be served by several threads.
/// @par Cancellation
/// The types that the awaiting coroutine lets through, `terminal` if it did not change that, reach
/// whichever step is running. Acquiring: as `lock::acquire()`. Body: as any coroutine that was
/// spawned, `terminal` unless it lets more through; a loss cancels it also after that. The release
/// is not cancelled.
/// @par Lifetimes
/// `on` is copied. `body` is copied or moved if it is an rvalue. An lvalue must live until the
/// result is there. With GCC 12 an rvalue must have a trivial destructor: other bodies need a name.
/// @par Thread safety
/// Safe: each call is a coroutine of its own. Calls that run at the same time need bodies of their
/// own, or a body that allows it.
/// @throws boost::system::system_error what `lock::acquire()` reports; `errc::lease_lost` if the
/// lease was lost before it was released (the body may have finished all the same). What the body
/// throws is passed on. `errc::release_unknown` is not an error here: the work was done in time.
template <lock_like Lock, class Body>
    requires std::is_invocable_v<detail::kept_body<Body>&, lease_of<Lock>&>
[[nodiscard]] auto with_lease(Lock const& on, Body&& body, acquire_options options = {})
    -> std::invoke_result_t<detail::kept_body<Body>&, lease_of<Lock>&> {
    auto begin = [options](Lock const& by) { return by.acquire(options, asio::deferred); };
    return detail::spawn_with_lease<detail::kept_body<Body>>(on, std::forward<Body>(body), begin);
}

/// The same, but waits for the lock no longer than `with_lease_options::wait_at_most`. Where
/// `asio::cancel_after` would also cancel the body, this limits the waiting alone. `on` also has
/// `try_acquire_for(limit, options, token)`, as all locks of this library do.
///
/// @par Completion, cancellation, lifetimes, thread safety
/// The same as without a limit.
/// @throws boost::system::system_error `asio::error::try_again` if the lock was busy until the time
/// was up: the body was not called. Otherwise what `lock::try_acquire_for()` reports, and what is
/// thrown without a limit.
// A template of its options, so that `{}` means those of the other one.
template <lock_like Lock, class Body, std::same_as<with_lease_options> Options = with_lease_options>
    requires std::is_invocable_v<detail::kept_body<Body>&, lease_of<Lock>&>
[[nodiscard]] auto with_lease(Lock const& on, Body&& body, Options options)
    -> std::invoke_result_t<detail::kept_body<Body>&, lease_of<Lock>&> {
    if (!options.wait_at_most) {
        return with_lease(on, std::forward<Body>(body), options.acquire);
    }
    auto begin = [options](Lock const& by) {
        return by.try_acquire_for(*options.wait_at_most, options.acquire, asio::deferred);
    };
    return detail::spawn_with_lease<detail::kept_body<Body>>(on, std::forward<Body>(body), begin);
}

}  // namespace holdfast

#endif
