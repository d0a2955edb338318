// What the public types promise the compiler: who may be copied or moved, without throwing or not,
// and what is computed from what.

#include <holdfast.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio = boost::asio;
using holdfast::client;
using holdfast::lease;
using holdfast::lock;

namespace {

// A lease is the right to be the holder: it moves, empties, and never throws on its way out.
static_assert(std::is_nothrow_default_constructible_v<lease>);
static_assert(std::is_nothrow_move_constructible_v<lease>);
static_assert(std::is_nothrow_move_assignable_v<lease>);
static_assert(std::is_nothrow_destructible_v<lease>);
static_assert(!std::is_copy_constructible_v<lease> && !std::is_copy_assignable_v<lease>);
static_assert(std::is_constructible_v<bool, lease const&> && !std::is_convertible_v<lease const&, bool>);
static_assert(std::is_constructible_v<bool, lease&>);
static_assert(noexcept(std::declval<lease const&>().valid()));
static_assert(noexcept(std::declval<lease const&>().state()));
static_assert(noexcept(std::declval<lease const&>().loss()));
static_assert(noexcept(std::declval<lease const&>().token()));
static_assert(noexcept(std::declval<lease const&>().remaining()));
static_assert(std::same_as<
              decltype(std::declval<lease const&>().deadline()),
              holdfast::lease_clock::time_point>);

// A temporary lease gives the lock back before anybody can use the answer: it cannot be asked.
template <class Lease>
concept can_be_asked = requires(Lease&& held) { std::forward<Lease>(held).valid(); };
static_assert(can_be_asked<lease&> && can_be_asked<lease const&>);
static_assert(!can_be_asked<lease> && !can_be_asked<lease const>);
static_assert(!std::is_constructible_v<bool, lease> && !std::is_constructible_v<bool, lease const>);

// So does a leadership, and an observer.
static_assert(std::is_nothrow_default_constructible_v<holdfast::leadership>);
static_assert(std::is_nothrow_move_constructible_v<holdfast::leadership>);
static_assert(std::is_nothrow_move_assignable_v<holdfast::leadership>);
static_assert(!std::is_copy_constructible_v<holdfast::leadership>);
static_assert(can_be_asked<holdfast::leadership&> && !can_be_asked<holdfast::leadership>);
static_assert(!std::is_constructible_v<bool, holdfast::leadership>);
static_assert(std::is_nothrow_move_constructible_v<holdfast::leader_observer>);
static_assert(std::is_nothrow_move_assignable_v<holdfast::leader_observer>);
static_assert(!std::is_copy_constructible_v<holdfast::leader_observer>);
static_assert(std::copyable<holdfast::election>);
static_assert(!std::is_default_constructible_v<holdfast::election>);

// A lock is a cheap value, made by a client only.
static_assert(std::copyable<lock>);
static_assert(std::is_nothrow_destructible_v<lock>);
static_assert(!std::is_default_constructible_v<lock>);
static_assert(std::same_as<decltype(std::declval<lock const&>().name()), std::string const&>);

// A client moves and is made from an executor or a context, and a URL or a configuration.
static_assert(std::movable<client>);
static_assert(std::is_nothrow_move_constructible_v<client>);
static_assert(std::is_nothrow_destructible_v<client>);
static_assert(!std::is_copy_constructible_v<client>);
static_assert(std::constructible_from<client, asio::any_io_executor, std::string_view>);
static_assert(std::constructible_from<client, asio::any_io_executor, std::string>);
static_assert(std::constructible_from<client, asio::any_io_executor, char const*>);
static_assert(std::constructible_from<client, asio::any_io_executor, holdfast::config>);
static_assert(std::constructible_from<client, asio::io_context&, char const*>);
static_assert(std::constructible_from<client, asio::io_context::executor_type, holdfast::config>);
static_assert(std::constructible_from<client, asio::thread_pool&, holdfast::config>);
static_assert(!std::constructible_from<client, int&, char const*>);

// Options may be temporaries in a co_await expression with GCC 12.
static_assert(std::is_trivially_destructible_v<holdfast::acquire_options>);
static_assert(std::is_aggregate_v<holdfast::acquire_options>);

// A lease is a duration, `learned`, or nothing; a number would have no unit.
using holdfast::lease_duration;
static_assert(std::convertible_to<std::chrono::hours, lease_duration>);
static_assert(std::convertible_to<holdfast::learned_t, lease_duration>);
static_assert(!std::convertible_to<int, lease_duration>);
static_assert(!std::convertible_to<std::chrono::duration<double>, lease_duration>);
static_assert(
    lease_duration{std::chrono::seconds{1}} == lease_duration{std::chrono::milliseconds{1000}}
);
static_assert(lease_duration{} != lease_duration{holdfast::learned});

// An owner is made by make() only: braces do not make one.
static_assert(std::is_trivially_destructible_v<holdfast::owner>);
static_assert(std::regular<holdfast::owner> == false && std::equality_comparable<holdfast::owner>);
static_assert(std::copyable<holdfast::owner>);
static_assert(!std::is_aggregate_v<holdfast::owner>);
static_assert(!std::is_default_constructible_v<holdfast::owner>);
[[maybe_unused]] asio::awaitable<void> braces_are_options(lock l) {
    static_cast<void>(co_await l.acquire({}));
    static_cast<void>(co_await l.acquire({.lease = std::chrono::seconds{1}}));
    static_cast<void>(co_await l.acquire({.lease = holdfast::learned}));
    static_cast<void>(co_await l.acquire({.lease = {}}));
    static_cast<void>(
        co_await l.acquire({.max_renewals = 3, .orphan_after = std::chrono::minutes{1}})
    );
    static_cast<void>(co_await l.acquire({.owner = holdfast::owner::make()}));
    static_cast<void>(co_await l.acquire({.max_hold = std::chrono::hours{1}, .owner = {}}));
}

static_assert(holdfast::fencing_token{1} < holdfast::fencing_token{2});
static_assert(holdfast::fencing_token{} == holdfast::fencing_token{0});
static_assert(
    std::is_error_code_enum<holdfast::errc>::value ||
    boost::system::is_error_code_enum<holdfast::errc>::value
);
static_assert(std::chrono::is_clock_v<holdfast::lease_clock>);
static_assert(holdfast::lease_clock::is_steady);

// Braces in a name without arguments are not a format.
[[maybe_unused]] void names(client const& c) {
    lock const plain = c.lock("a{b}");
    lock const text = c.lock(std::string{"text"});
    lock const formatted = c.lock("stock:{}:{}", 7, "apple");
    static_cast<void>(plain);
    static_cast<void>(text);
    static_cast<void>(formatted);
}

// The value of a body is the value of with_lease.
[[maybe_unused]] asio::awaitable<int> counted(lock l) {
    auto body = [](lease&) -> asio::awaitable<int> { co_return 1; };
    static_assert(std::same_as<decltype(holdfast::with_lease(l, body)), asio::awaitable<int>>);
    co_return co_await holdfast::with_lease(l, body);
}
[[maybe_unused]] asio::awaitable<void> uncounted(lock l) {
    auto body = [](lease&) -> asio::awaitable<void> { co_return; };
    static_assert(std::same_as<decltype(holdfast::with_lease(l, body)), asio::awaitable<void>>);
    co_await holdfast::with_lease(l, body, {.max_hold = std::chrono::hours{1}});
}

}  // namespace
