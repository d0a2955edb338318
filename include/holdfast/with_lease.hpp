#ifndef HOLDFAST_WITH_LEASE_HPP
#define HOLDFAST_WITH_LEASE_HPP

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/owner.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace holdfast {

namespace detail {

template <class T>
struct awaited_by;

template <class T, class Executor>
struct awaited_by<asio::awaitable<T, Executor>> {
    using type = T;
};

template <class Body>
using body_result = typename awaited_by<std::invoke_result_t<Body&, lease&>>::type;

// A loss cancels the body. The end of the body cancels nothing: its release ends the watch.
struct cancel_if_lost {
    asio::cancellation_type operator()(std::exception_ptr const&) const noexcept {
        return asio::cancellation_type::none;
    }
    asio::cancellation_type operator()(error_code ec, loss_reason) const noexcept {
        return ec ? asio::cancellation_type::none : asio::cancellation_type::all;
    }
};

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
inline void report_with_lease(bool lost, error_code released, std::exception_ptr const& failure) {
    if (failure && !(lost && is_cancellation(failure))) {
        std::rethrow_exception(failure);
    }
    if (lost || released == errc::lease_lost) {
        throw boost::system::system_error(make_error_code(errc::lease_lost));
    }
}

/// What came of a body and of the release after it.
template <class Result>
struct outcome {
    std::optional<Result> value;
    std::exception_ptr failure;
    bool lost = false;
    error_code released;
};
template <>
struct outcome<void> {
    std::exception_ptr failure;
    bool lost = false;
    error_code released;
};

// Catches what the body throws, also one that throws instead of returning an awaitable.
template <class Executor, class Body, class Result>
asio::awaitable<void, Executor> run_body(Body& body, lease& held, outcome<Result>& out) {
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
    out.lost = held.state() == lease_state::lost;
}

// A coroutine of its own, spawned: it switches its cancellation off to release, which must not show
// in the caller.
template <class Executor, class Body, class Result, class Release>
asio::awaitable<void, Executor> run_body_and_release(
    Body& body,
    lease& held,
    Release& release,
    outcome<Result>& out
) {
    try {
        co_await run_body<Executor>(body, held, out);
    } catch (...) {
        // It did not begin: cancelled before that, or out of memory.
        out.failure = std::current_exception();
    }
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await std::move(release)(
        asio::redirect_error(asio::use_awaitable_t<Executor>{}, out.released)
    );
}

// The body against the loss of the lease. What the caller cancels is for the body, which may let
// less through than its caller: the watch has no slot, and goes on until the body has released.
template <class Executor, class Body, class Result>
asio::awaitable<void, Executor> run_with_lease(
    holdfast::lock on,
    std::optional<owner> who,
    Body& body,
    acquire_options options,
    outcome<Result>& out
) {
    constexpr asio::use_awaitable_t<Executor> awaited;
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    auto executor = co_await asio::this_coro::executor;
    auto acquire =
        who ? on.acquire(*who, options, asio::deferred) : on.acquire(options, asio::deferred);
    lease held = co_await std::move(acquire)(awaited);
    co_await asio::this_coro::throw_if_cancelled(false);

    auto release = held.release(asio::deferred);
    auto const state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
        out.failure =
            std::make_exception_ptr(boost::system::system_error(asio::error::operation_aborted));
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await std::move(release)(asio::redirect_error(awaited, out.released));
        co_return;
    }
    auto both = asio::experimental::make_parallel_group(
        asio::co_spawn(
            executor,
            run_body_and_release<Executor>(body, held, release, out),
            asio::deferred
        ),
        held.wait_lost(asio::bind_cancellation_slot(
            asio::cancellation_slot{},
            asio::bind_executor(executor, asio::deferred)
        ))
    );
    auto race = std::move(both).async_wait(cancel_if_lost{}, asio::deferred);
    co_await std::move(race)(awaited);
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

template <class Executor, class Body>
asio::awaitable<body_result<Body>, Executor> spawn_with_lease(
    holdfast::lock on,
    std::optional<owner> who,
    Body& body,
    acquire_options options
) {
    outcome<body_result<Body>> out;
    // The body and its watch complete on threads of their own if the executor has several.
    auto const callers = co_await asio::this_coro::executor;
    auto const executor = one_at_a_time(callers);
    auto run = asio::co_spawn(
        executor,
        run_with_lease<Executor>(std::move(on), who, body, options, out),
        asio::deferred
    );
    co_await std::move(run)(asio::use_awaitable_t<Executor>{});
    report_with_lease(out.lost, out.released, out.failure);
    if constexpr (!std::is_void_v<body_result<Body>>) {
        co_return std::move(*out.value);
    }
}

template <class Body>
auto start_with_lease(
    lock const& on,
    std::optional<owner> const& who,
    Body&& body,
    acquire_options options
) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    static_assert(
        std::is_lvalue_reference_v<Body> || std::is_trivially_destructible_v<Body>,
        "name it: GCC 12 destroys the captures of a temporary function object twice when it is "
        "part of a co_await expression; write `auto body = ...; co_await with_lease(lock, body);`"
    );
#endif
    using executor_type =
        typename std::invoke_result_t<std::remove_reference_t<Body>&, lease&>::executor_type;
    return spawn_with_lease<executor_type>(on, who, body, options);
}

}  // namespace detail

/// Acquires the lock, runs `body(lease&)`, and releases on every path: return, exception,
/// cancellation.
///
/// `body` is a function object that returns an `awaitable`. If the lease is lost while it runs, it
/// is cancelled; what it awaits then ends with `operation_aborted`, and it should return soon:
/// `lease::remaining()` tells how soon.
///
/// @par Completion
/// What the body returned. The body runs on a strand of the executor of the coroutine that awaits
/// it; an executor whose type can hold no strand must not be served by several threads.
/// @par Cancellation
/// The types that the awaiting coroutine lets through, `terminal` if it did not change that, reach
/// whichever step is running. Acquiring: as `lock::acquire()`. Body: as any coroutine that was
/// spawned, `terminal` unless it lets more through; one that goes on after `terminal` is not
/// cancelled once more by a loss. The release is not cancelled.
/// @par Lifetimes
/// `on` is copied. `body` must live until the result is there; with GCC 12 it must be a named
/// object, or have a trivial destructor.
/// @par Thread safety
/// Safe: each call is a coroutine of its own. Calls that run at a time need bodies of their own, or
/// a body that allows it.
/// @throws boost::system::system_error what `lock::acquire()` reports; `errc::lease_lost` if the
/// lease was lost before it was released (the body may have finished all the same). What the body
/// throws is passed on. `errc::release_unknown` is not an error here: the work was done in time.
template <class Body>
    requires std::is_invocable_v<std::remove_reference_t<Body>&, lease&>
[[nodiscard]] auto with_lease(lock const& on, Body&& body, acquire_options options = {})
    -> std::invoke_result_t<std::remove_reference_t<Body>&, lease&> {
    return detail::start_with_lease(on, {}, std::forward<Body>(body), options);
}

/// The same on behalf of `who`: if `who` holds the lock already, `body` runs with a further lease
/// on the same grant, and the lock is freed with the last of them. See `lock::acquire()` with an
/// owner.
///
/// @par Completion, cancellation, lifetimes, thread safety, errors
/// As `with_lease()` without an owner.
template <class Body>
    requires std::is_invocable_v<std::remove_reference_t<Body>&, lease&>
[[nodiscard]] auto with_lease(
    lock const& on,
    owner const& who,
    Body&& body,
    acquire_options options = {}
) -> std::invoke_result_t<std::remove_reference_t<Body>&, lease&> {
    return detail::start_with_lease(on, who, std::forward<Body>(body), options);
}

}  // namespace holdfast

#endif
