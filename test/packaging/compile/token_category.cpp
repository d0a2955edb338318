// Every operation hands on a completion token as it was given: an lvalue is copied and stays
// usable, an rvalue is moved, and what can only be moved must be an rvalue.

#include <holdfast.hpp>

#include <boost/asio/async_result.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace {

/// Completes nothing: the result of an initiating function is the type in which it got the token.
struct probe {};

template <class Token>
struct received {};

}  // namespace

template <class Signature>
struct boost::asio::async_result<probe, Signature> {
    template <class Initiation, class Token>
    static received<Token&&> initiate(Initiation&&, Token&&) {
        return {};
    }
};

namespace {

/// A handler for any results that can be called and moved, but not copied.
struct move_only {
    std::unique_ptr<int> owned;
    template <class... Results>
    void operator()(Results&&...) {}
};

// `Start` is called with one token.
template <class Start>
concept keeps_the_category = requires(Start start, probe token, probe const constant) {
    { start(token) } -> std::same_as<received<probe&>>;
    { start(constant) } -> std::same_as<received<probe const&>>;
    { start(std::move(token)) } -> std::same_as<received<probe&&>>;
};
template <class Start>
concept copies_lvalues_only =
    std::invocable<Start, move_only> && !std::invocable<Start, move_only&>;

template <class Start>
void check(Start const&) {
    static_assert(keeps_the_category<Start>);
    static_assert(copies_lvalues_only<Start>);
}

#define OPERATION(object, call, ...)                                                       \
    [](auto&& token                                                                        \
    ) -> decltype(std::declval<object>().call(__VA_ARGS__ __VA_OPT__(, )                   \
                                                  std::forward<decltype(token)>(token))) { \
        return std::declval<object>().call(__VA_ARGS__ __VA_OPT__(, )                      \
                                               std::forward<decltype(token)>(token));      \
    }

[[maybe_unused]] void every_operation() {
    using holdfast::client;
    using holdfast::lease;
    using holdfast::lock;
    using holdfast::multi_lease;
    using holdfast::multi_lock;
    using holdfast::quorum_lease;
    using holdfast::quorum_lock;
    using options = holdfast::acquire_options;
    using limit = std::chrono::seconds;

    check(OPERATION(lock const&, acquire));
    check(OPERATION(lock const&, acquire, options{}));
    check(OPERATION(lock const&, try_acquire));
    check(OPERATION(lock const&, try_acquire, options{}));
    check(OPERATION(lock const&, try_acquire_for, limit{}));
    check(OPERATION(lock const&, try_acquire_for, limit{}, options{}));
    check(OPERATION(lock const&, inspect));
    check(OPERATION(lock const&, force_release));
    check(OPERATION(lease&, renew));
    check(OPERATION(lease&, release));
    check(OPERATION(lease&, wait_lost));
    check(OPERATION(multi_lock const&, acquire));
    check(OPERATION(multi_lock const&, try_acquire_for, limit{}, options{}));
    check(OPERATION(multi_lease&, renew));
    check(OPERATION(multi_lease&, release));
    check(OPERATION(multi_lease&, wait_lost));
    check(OPERATION(quorum_lock const&, acquire));
    check(OPERATION(quorum_lock const&, try_acquire_for, limit{}, options{}));
    check(OPERATION(quorum_lease&, renew));
    check(OPERATION(quorum_lease&, release));
    check(OPERATION(quorum_lease&, wait_lost));
    check(OPERATION(client const&, ready));
    check(OPERATION(client&, shutdown));
}

#undef OPERATION

}  // namespace
