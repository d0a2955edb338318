// Every operation takes every kind of completion token, with and without options before it, and
// none at all.

#include <holdfast.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prepend.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <future>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::client;
using holdfast::error_code;
using holdfast::leader_info;
using holdfast::leadership;
using holdfast::lease;
using holdfast::lock;
using holdfast::lock_info;
using holdfast::loss_reason;
using holdfast::semaphore_info;

namespace {

/// What an operation gives besides its error: nothing, or a value.
template <class... Results>
struct results {};

template <class... Results>
struct value_of {
    using type = void;
};
template <class T>
struct value_of<T> {
    using type = T;
};

/// A callback that can only be moved, and only be called as an rvalue.
template <class... Results>
struct move_only {
    std::unique_ptr<int> owned;
    void operator()(error_code, Results...) && {}
};

// What a co_await came to.
template <class Expected, class Actual>
void yields(Actual const&) {
    static_assert(std::same_as<Expected, Actual>);
}

// `start(token...)` starts one operation; it completes with an error code and `Results`.
template <class... Results, class Start>
asio::awaitable<void> takes_every_token(
    results<Results...>,
    asio::io_context& context,
    Start start
) {
    using value = typename value_of<Results...>::type;
    using tuple = std::tuple<error_code, Results...>;

    // No token: something that co_await takes, in any coroutine.
    static_assert(std::same_as<decltype(start()), decltype(start(asio::deferred))>);
    if constexpr (std::is_void_v<value>) {
        co_await start();
    } else {
        yields<value>(co_await start());
    }
    static_cast<void>(co_await start(asio::deferred));
    static_assert(std::same_as<decltype(start(asio::use_awaitable)), asio::awaitable<value>>);
    static_cast<void>(co_await start(asio::use_awaitable));
    yields<tuple>(co_await start(asio::as_tuple));
    static_cast<void>(co_await start(asio::as_tuple(asio::use_awaitable)));
    error_code ec;
    if constexpr (std::is_void_v<value>) {
        co_await start(asio::redirect_error(ec));
    } else {
        yields<value>(co_await start(asio::redirect_error(ec)));
    }
    static_cast<void>(co_await start(asio::redirect_error(asio::use_awaitable, ec)));
    static_cast<void>(co_await start(asio::cancel_after(2s)));
    static_cast<void>(co_await start(asio::cancel_after(2s, asio::use_awaitable)));
    static_cast<void>(co_await start(asio::cancel_after(2s, asio::as_tuple(asio::use_awaitable))));
    static_cast<void>(co_await start(asio::bind_executor(context, asio::use_awaitable)));
    static_cast<void>(co_await start(asio::bind_executor(asio::make_strand(context), asio::deferred)
    ));

    static_assert(std::same_as<decltype(start(asio::use_future)), std::future<value>>);
    static_cast<void>(start(asio::use_future).get());

    // Callbacks: all of these start at once and give nothing.
    static_assert(std::is_void_v<decltype(start(asio::detached))>);
    start(asio::detached);
    start([](error_code, Results...) {});
    start([](error_code, Results const&...) {});
    start([owned = std::make_unique<int>(1)](error_code, Results...) mutable { owned.reset(); });
    start(move_only<Results...>{});
    auto named = [](error_code, Results...) {};
    start(named);
    auto const constant = named;
    start(constant);
    auto only_moves = move_only<Results...>{};
    start(std::move(only_moves));
    start(asio::bind_executor(context, [](error_code, Results...) {}));
    start(asio::bind_executor(asio::make_strand(context), move_only<Results...>{}));
    asio::cancellation_signal signal;
    start(asio::bind_cancellation_slot(signal.slot(), [](error_code, Results...) {}));
    start(asio::cancel_after(2s, [](error_code, Results...) {}));
    start(asio::any_completion_handler<void(error_code, Results...)>{[](error_code, Results...) {}}
    );
    start(asio::prepend([](int, error_code, Results...) {}, 1));
    start(asio::append([](error_code, Results..., int) {}, 1));

    // Started later, as often as there is somebody to start it.
    auto later = start(asio::deferred);
    std::move(later)([](error_code, Results...) {});
}

/// What is not a completion token of the operation is refused by its signature, not deep inside.
template <class Token>
concept token_of_acquire = requires(lock const l, Token token) { l.acquire(std::move(token)); };
template <class Token>
concept token_of_release = requires(lease held, Token token) { held.release(std::move(token)); };

static_assert(token_of_acquire<asio::deferred_t> && token_of_acquire<void (*)(error_code, lease)>);
static_assert(!token_of_acquire<int> && !token_of_acquire<void (*)(lease)> && !token_of_acquire<void (*)(error_code)>);
static_assert(token_of_release<asio::deferred_t> && token_of_release<void (*)(error_code)>);
static_assert(!token_of_release<int> && !token_of_release<void (*)(error_code, lease)>);

}  // namespace

// Compiled, not called; external so that it is not dropped before it is.
asio::awaitable<void> every_operation_takes_every_token(
    asio::io_context& context,
    client& c,
    lock l,
    lease held
);

asio::awaitable<void> every_operation_takes_every_token(
    asio::io_context& context,
    client& c,
    lock l,
    lease held
) {
    constexpr results<> nothing;
    constexpr results<lease> a_lease;
    acquire_options const options{.lease = 5s};

#define CALL(operation) \
    [&]<class... Token>(Token&&... token) { return operation(std::forward<Token>(token)...); }
#define CALL_WITH(operation, ...)                                     \
    [&]<class... Token>(Token&&... token) {                           \
        return operation(__VA_ARGS__, std::forward<Token>(token)...); \
    }

    co_await takes_every_token(a_lease, context, CALL(l.acquire));
    co_await takes_every_token(a_lease, context, CALL_WITH(l.acquire, options));
    co_await takes_every_token(a_lease, context, CALL(l.try_acquire));
    co_await takes_every_token(a_lease, context, CALL_WITH(l.try_acquire, options));
    co_await takes_every_token(a_lease, context, CALL_WITH(l.try_acquire_for, 1s));
    co_await takes_every_token(a_lease, context, CALL_WITH(l.try_acquire_for, 1s, options));
    co_await takes_every_token(results<lock_info>{}, context, CALL(l.inspect));
    co_await takes_every_token(results<bool>{}, context, CALL(l.force_release));
    auto const pool = c.semaphore("pool");
    co_await takes_every_token(a_lease, context, CALL(pool.acquire));
    co_await takes_every_token(results<semaphore_info>{}, context, CALL(pool.inspect));
    co_await takes_every_token(results<std::int64_t>{}, context, CALL(pool.available));
    co_await takes_every_token(results<bool>{}, context, CALL_WITH(pool.try_set_permits, 10));
    co_await takes_every_token(results<bool>{}, context, CALL(pool.force_release));
    auto const election = c.election("election");
    results<leadership> const a_leadership;
    co_await takes_every_token(a_leadership, context, CALL_WITH(election.campaign, "value"));
    co_await takes_every_token(
        a_leadership,
        context,
        CALL_WITH(election.campaign, "value", options)
    );
    co_await takes_every_token(results<leader_info>{}, context, CALL(election.leader));
    auto observer = election.observe();
    co_await takes_every_token(results<leader_info>{}, context, CALL(observer.next));
    leadership leads;
    co_await takes_every_token(nothing, context, CALL(leads.resign));
    co_await takes_every_token(nothing, context, CALL_WITH(leads.proclaim, "value"));
    co_await takes_every_token(results<loss_reason>{}, context, CALL(leads.wait_lost));
    co_await takes_every_token(nothing, context, CALL(held.renew));
    co_await takes_every_token(nothing, context, CALL(held.release));
    co_await takes_every_token(results<loss_reason>{}, context, CALL(held.wait_lost));
    co_await takes_every_token(nothing, context, CALL(c.ready));
    co_await takes_every_token(nothing, context, CALL(c.shutdown));

#undef CALL
#undef CALL_WITH
}
