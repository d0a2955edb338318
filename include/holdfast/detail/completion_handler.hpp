#ifndef HOLDFAST_DETAIL_COMPLETION_HANDLER_HPP
#define HOLDFAST_DETAIL_COMPLETION_HANDLER_HPP

#include <holdfast/fwd.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/blocking.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace holdfast::detail {

/// `asio::use_future` gives its handler an executor of this shape, for the result of the future and
/// how it may block. It stands for the `system_executor`, whose threads would be started by asking
/// for its context; the handler only fulfils a promise, and may do so anywhere.
template <class Executor>
inline constexpr bool fulfils_promise = false;
template <template <class, class> class Executor, class Result>
inline constexpr bool fulfils_promise<Executor<Result, asio::execution::blocking_t::possibly_t>> =
    true;

template <class Handler>
using executor_of_handler =
    std::decay_t<asio::associated_executor_t<Handler, asio::any_io_executor>>;

/// The executor of a handler; empty if it has none, or one that is no I/O executor.
template <class Handler>
[[nodiscard]] asio::any_io_executor io_executor_of(Handler const& handler) {
    using associated = executor_of_handler<Handler>;
    if constexpr (fulfils_promise<associated>) {
        return {};
    } else if constexpr (std::convertible_to<associated, asio::any_io_executor>) {
        return asio::get_associated_executor(handler, asio::any_io_executor{});
    } else {
        return {};
    }
}

/// A user's handler without its type, and its executor. An erased handler gives its executor away
/// only erased once more, in memory that has to be allocated.
template <class... Results>
struct completion_handler {
    template <class Handler>
        requires(!std::same_as<std::remove_cvref_t<Handler>, completion_handler>)
    completion_handler(Handler&& of)
        : executor{io_executor_of(of)},
          has_other{!fulfils_promise<executor_of_handler<std::remove_cvref_t<Handler>>>},
          handler{std::forward<Handler>(of)} {}

    asio::any_io_executor executor;
    /// If `executor` is empty, the handler itself may have one of another kind.
    bool has_other;
    asio::any_completion_handler<void(Results...)> handler;
};

}  // namespace holdfast::detail

#endif
