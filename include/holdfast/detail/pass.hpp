#ifndef HOLDFAST_DETAIL_PASS_HPP
#define HOLDFAST_DETAIL_PASS_HPP

#include <holdfast/detail/acquire.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/error.hpp>

#include <type_traits>
#include <utility>

namespace holdfast::detail {

/// Tells a user's handler of an acquisition whose grant is no lease: the error only, or also
/// whether it was granted.
template <class Handler, bool tells_success>
struct pass_handler {
    Handler handler;

    void operator()(error_code ec, lease) && {
        if constexpr (tells_success) {
            bool const busy = ec == asio::error::try_again;
            std::move(handler)(busy ? error_code{} : ec, !ec);
        } else {
            std::move(handler)(ec);
        }
    }
};

/// Launches such an acquisition.
template <bool tells_success>
struct pass_initiation {
    acquire_initiation<acquire_request> launch;

    using executor_type = asio::any_io_executor;
    [[nodiscard]] executor_type get_executor() const noexcept { return launch.get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) && {
        std::move(launch)(
            pass_handler<std::decay_t<Handler>, tells_success>{std::forward<Handler>(handler)}
        );
    }
};

}  // namespace holdfast::detail

/// Executor, allocator and cancellation slot are those of the user's handler.
template <
    template <class, class> class Associator,
    class Handler,
    bool tells_success,
    class Default>
struct boost::asio::
    associator<Associator, holdfast::detail::pass_handler<Handler, tells_success>, Default>
    : Associator<Handler, Default> {
    using adaptor = holdfast::detail::pass_handler<Handler, tells_success>;

    static auto get(adaptor const& on) noexcept {
        return Associator<Handler, Default>::get(on.handler);
    }
    static auto get(adaptor const& on, Default const& otherwise) noexcept {
        return Associator<Handler, Default>::get(on.handler, otherwise);
    }
};

#endif
