#ifndef HOLDFAST_DETAIL_COMPLETION_HANDLER_HPP
#define HOLDFAST_DETAIL_COMPLETION_HANDLER_HPP

#include <holdfast/fwd.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace holdfast::detail {

/// The executor of a handler; empty if it has none, or one that is no I/O executor.
template <class Handler>
[[nodiscard]] asio::any_io_executor io_executor_of(Handler const& handler) {
    using none = asio::any_io_executor;
    using associated = std::decay_t<asio::associated_executor_t<Handler, none>>;
    if constexpr (std::convertible_to<associated, asio::any_io_executor>) {
        return asio::get_associated_executor(handler, none{});
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
          handler{std::forward<Handler>(of)} {}

    /// If it is empty, the handler itself may still have one of another kind.
    asio::any_io_executor executor;
    asio::any_completion_handler<void(Results...)> handler;
};

}  // namespace holdfast::detail

#endif
