#ifndef HOLDFAST_REDIS_REDIS_CONNECTION_HPP
#define HOLDFAST_REDIS_REDIS_CONNECTION_HPP

// What the links speak through. A build that defines HOLDFAST_CONNECTION to the name of another
// header runs the same links over that header's connections.

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <exception>
#include <memory>

#ifdef HOLDFAST_CONNECTION
#include HOLDFAST_CONNECTION
#else

#include "runtime/strand.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/logger.hpp>

#include <utility>

namespace holdfast::detail {

// A base, because the strand has to outlive the other base, the connection.
class strand_keeper {
protected:
    explicit strand_keeper(strand on) noexcept : kept_{std::move(on)} {}
    ~strand_keeper() = default;

    [[nodiscard]] borrowed_strand borrow() const noexcept { return kept_.borrow(); }

private:
    strand kept_;
};

/// A connection of Boost.Redis that keeps the strand it runs on. Boost.Redis and Asio copy the
/// executor dozens of times for an exchange, so the executor only refers to the strand.
class redis_connection final : private strand_keeper,
                               public boost::redis::basic_connection<borrowed_strand> {
public:
    redis_connection(strand on, asio::ssl::context tls)
        : strand_keeper{std::move(on)},
          basic_connection{
              borrow(),
              std::move(tls),
              boost::redis::logger{boost::redis::logger::level::disabled}
          } {}
};

}  // namespace holdfast::detail

#endif

namespace holdfast::detail {

class tls_trust;

/// Ends a coroutine that nobody awaits: its exception leaves the function that runs the executor.
inline constexpr auto rethrown = [](std::exception_ptr failure) {
    if (failure) {
        std::rethrow_exception(failure);
    }
};

/// For one epoch; not connected yet.
/// @throws boost::system::system_error if TLS cannot be set up.
[[nodiscard]] std::shared_ptr<redis_connection> make_redis_connection(
    boost::asio::any_io_executor const& executor,
    config const& settings,
    tls_trust& trust
);

}  // namespace holdfast::detail

#endif
