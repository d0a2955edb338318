#ifndef HOLDFAST_CLIENT_CONNECTION_WAITERS_HPP
#define HOLDFAST_CLIENT_CONNECTION_WAITERS_HPP

#include "core/lease_terms.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

namespace holdfast::detail {

/// Requests of one answer each that wait for a connection. Used on the client's strand; it is a
/// part of the client.
class connection_waiters {
public:
    explicit connection_waiters(client_context& client) : client_{client} {}

    /// Calls `f` when requests about `on` can be sent, or any if there is none; or with the cause,
    /// after a request time-out at the latest.
    void add(std::function<void(error_code)> f, std::shared_ptr<target const> on = {});
    /// The same, but not before the pause is over, unless a connection is made meanwhile.
    void add_after(
        nanos pause,
        std::function<void(error_code)> f,
        std::shared_ptr<target const> on = {}
    );
    void tell(error_code ec);
    void tell(error_code ec, client_context::some const& those);
    /// A place among the requests that may be under way at a time, for as long as it lives; none if
    /// there are too many.
    [[nodiscard]] std::shared_ptr<void> reserve();
    void clear() noexcept;

private:
    struct waiter {
        std::function<void(error_code)> f;
        std::shared_ptr<target const> on;
        timer limit;
    };
    using continuation =
        void (connection_waiters::*)(std::function<void(error_code)>, std::shared_ptr<target const>);

    void wait(
        nanos limit,
        std::function<void(error_code)> f,
        std::shared_ptr<target const> on,
        continuation then
    );
    void give_up(std::function<void(error_code)> f, std::shared_ptr<target const> on);

    client_context& client_;
    std::list<std::shared_ptr<waiter>> waiting_;
    std::size_t reserved_ = 0;
};

}  // namespace holdfast::detail

#endif
