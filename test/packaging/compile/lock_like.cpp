// What is lock-like, and that a type gets all operations of a lock from one base class.

#include <holdfast.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::error_code;
using holdfast::lease;

namespace {

/// A lock-like type of the library: it says what is to be acquired, and no more.
class primitive : public holdfast::lockable<primitive> {
private:
    friend class holdfast::lockable<primitive>;
    holdfast::detail::acquire_request request() const { return {nullptr, nullptr}; }
};

/// A lock-like type of a user.
struct counting_lock {
    holdfast::lock inner;
    std::shared_ptr<int> count;

    template <class Token>
    auto acquire(acquire_options options, Token&& token) const {
        ++*count;
        return inner.acquire(options, std::forward<Token>(token));
    }
};

struct only_moves : counting_lock {
    std::unique_ptr<int> owned;
};

static_assert(holdfast::lock_like<holdfast::lock>);
static_assert(holdfast::lock_like<holdfast::multi_lock>);
static_assert(holdfast::lock_like<holdfast::quorum_lock>);
static_assert(holdfast::lock_like<primitive>);
static_assert(holdfast::lock_like<holdfast::semaphore>);
static_assert(holdfast::lock_like<counting_lock>);
static_assert(!holdfast::lock_like<only_moves>);
static_assert(!holdfast::lock_like<lease>);
static_assert(!holdfast::lock_like<holdfast::client>);

template <class T, class Lease = lease>
concept has_all_operations = requires(T const& on, acquire_options options) {
    on.acquire();
    on.acquire(options);
    on.acquire({.lease = 5s});
    on.acquire(asio::cancel_after(1s));
    on.acquire(options, [](error_code, Lease) {});
    on.try_acquire();
    on.try_acquire(options);
    on.try_acquire(options, [](error_code, Lease) {});
    on.try_acquire_for(1s);
    on.try_acquire_for(1s, options);
    on.try_acquire_for(1s, options, [](error_code, Lease) {});
    { on.get_executor() } -> std::same_as<asio::any_io_executor>;
};
static_assert(has_all_operations<holdfast::lock>);
static_assert(has_all_operations<primitive>);
static_assert(has_all_operations<holdfast::semaphore>);
static_assert(has_all_operations<holdfast::multi_lock, holdfast::multi_lease>);
static_assert(has_all_operations<holdfast::quorum_lock, holdfast::quorum_lease>);

// What a multi-lock is made of.
using member = holdfast::multi_lock::member;
static_assert(std::convertible_to<holdfast::lock, member>);
static_assert(std::convertible_to<holdfast::fair_lock, member>);
static_assert(std::convertible_to<primitive, member>);
static_assert(!std::convertible_to<holdfast::multi_lock, member>);
static_assert(!std::convertible_to<counting_lock, member>);
static_assert(std::constructible_from<holdfast::multi_lock, holdfast::lock, holdfast::fair_lock>);
static_assert(std::constructible_from<holdfast::multi_lock, std::vector<member>>);
static_assert(std::constructible_from<holdfast::multi_lock, std::array<holdfast::lock, 3>>);
static_assert(!std::constructible_from<holdfast::multi_lock, holdfast::lock>);
static_assert(!std::convertible_to<std::vector<member>, holdfast::multi_lock>);

// And a quorum.
static_assert(!std::convertible_to<holdfast::quorum_lock, member>);
static_assert(std::constructible_from<
              holdfast::quorum_lock,
              holdfast::lock,
              holdfast::lock,
              holdfast::lock>);
static_assert(std::constructible_from<holdfast::quorum_lock, std::array<holdfast::lock, 5>>);
static_assert(!std::constructible_from<holdfast::quorum_lock, holdfast::lock, holdfast::fair_lock>);
static_assert(!std::constructible_from<holdfast::quorum_lock, std::array<holdfast::fair_lock, 3>>);
static_assert(!std::constructible_from<holdfast::quorum_lock, holdfast::lock>);

// The executor is where an Asio program looks for it.
static_assert(std::same_as<lease::executor_type, asio::any_io_executor>);
static_assert(std::same_as<holdfast::lock::executor_type, asio::any_io_executor>);
static_assert(std::same_as<holdfast::client::executor_type, asio::any_io_executor>);
static_assert(noexcept(std::declval<holdfast::lock const&>().get_executor()));
static_assert(noexcept(std::declval<lease const&>().get_executor()));

[[maybe_unused]] asio::awaitable<int> each_of_them(
    holdfast::lock one,
    primitive two,
    counting_lock three,
    holdfast::multi_lock four
) {
    auto body = [](lease&) -> asio::awaitable<int> { co_return 1; };
    int sum = co_await holdfast::with_lease(one, body);
    sum += co_await holdfast::with_lease(two, body);
    sum += co_await holdfast::with_lease(three, body, {.max_hold = 1h});
    sum += co_await holdfast::with_lease(one, body, {});
    auto of_all = [](holdfast::multi_lease& all) -> asio::awaitable<int> {
        co_return static_cast<int>(all.size());
    };
    sum += co_await holdfast::with_lease(four, of_all);
    // Limiting the wait needs `try_acquire_for`, which a lock-like type of a user need not have.
    sum += co_await holdfast::with_lease(one, body, {.wait_at_most = 1s});
    sum += co_await holdfast::with_lease(two, body, {.acquire = {.lease = 5s}, .wait_at_most = 1s});
    sum += co_await holdfast::with_lease(four, of_all, {.acquire = {.lease = 5s}});
    co_return sum;
}

}  // namespace
