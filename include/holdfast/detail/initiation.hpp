#ifndef HOLDFAST_DETAIL_INITIATION_HPP
#define HOLDFAST_DETAIL_INITIATION_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <tuple>
#include <utility>

namespace holdfast::detail {

/// Calls `Start(state..., handler)` when the operation is launched. It owns the shared state and
/// does not refer to the handle: a deferred operation may be launched after the handle has moved.
template <auto Start, class... State>
struct initiation {
    boost::asio::any_io_executor executor;
    std::tuple<State...> state;

    // asio::cancel_after() needs an executor for its timer.
    using executor_type = boost::asio::any_io_executor;
    [[nodiscard]] executor_type get_executor() const noexcept { return executor; }

    template <class Handler>
    void operator()(Handler&& handler) && {
        std::apply(
            [&](State&... each) { Start(std::move(each)..., std::forward<Handler>(handler)); },
            state
        );
    }
};

/// Initiates `Start(state..., handler)`. `Token` is given, not deduced: it is a reference where the
/// caller passed an lvalue.
template <class Token, class Signature, auto Start, class... State>
auto initiate(Token& token, boost::asio::any_io_executor executor, State... state) {
    return boost::asio::async_initiate<Token, Signature>(
        initiation<Start, State...>{std::move(executor), {std::move(state)...}},
        token
    );
}

}  // namespace holdfast::detail

#endif
