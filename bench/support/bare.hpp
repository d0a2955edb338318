#ifndef HOLDFAST_BENCH_SUPPORT_BARE_HPP
#define HOLDFAST_BENCH_SUPPORT_BARE_HPP

#include "core/key_names.hpp"
#include "ops/redis_port.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::bench {

namespace asio = boost::asio;

/// A connection of Boost.Redis and nothing around it: the floor.
class bare_connection {
public:
    bare_connection(asio::any_io_executor executor, std::string const& unix_socket);
    bare_connection(bare_connection const&) = delete;
    bare_connection& operator=(bare_connection const&) = delete;
    ~bare_connection();

    [[nodiscard]] boost::redis::connection& get() noexcept { return *connection_; }

private:
    // Shared with its own run: Boost.Redis hands out pointers to it until the last handler has run.
    std::shared_ptr<boost::redis::connection> connection_;
};

/// Sends scripts, one after the other, with buffers that are used again.
class bare_caller {
public:
    explicit bare_caller(bare_connection& on) noexcept : connection_{&on.get()} {}

    /// EVALSHA; the reply is in `value` until the next call.
    [[nodiscard]] asio::awaitable<void> call(
        std::string_view sha1,
        std::span<std::string_view const> words
    );

    /// An element of the last reply, which was an array; 0 is its first.
    [[nodiscard]] std::string_view value(std::size_t index) const;

private:
    boost::redis::connection* connection_;
    boost::redis::request request_;
    boost::redis::generic_flat_response response_;
};

/// Acquires, renews and releases one key with the library's scripts and without its care.
class bare_lock {
public:
    bare_lock(
        bare_connection& on,
        std::string_view name,
        std::chrono::milliseconds lease = std::chrono::seconds{30}
    );

    /// The token; 0 if somebody else has the lock.
    [[nodiscard]] asio::awaitable<std::uint64_t> acquire();
    [[nodiscard]] asio::awaitable<void> renew();
    [[nodiscard]] asio::awaitable<void> release();

private:
    std::string const& next_nonce();

    bare_caller caller_;
    detail::key_names keys_;
    std::string lease_;
    std::string holder_;
    std::string nonce_;
};

/// Wakes one waiter at each message of a channel, over a connection of its own.
class bare_notices {
public:
    bare_notices(asio::any_io_executor executor, std::string const& unix_socket);
    bare_notices(bare_notices const&) = delete;
    bare_notices& operator=(bare_notices const&) = delete;
    ~bare_notices();

    /// Subscribes to the channel of a lock.
    [[nodiscard]] asio::awaitable<void> subscribe(std::string_view name);

    void forget() noexcept { state_->news = false; }
    /// Returns at once if a message came since `forget`.
    [[nodiscard]] asio::awaitable<void> wait();

private:
    // A message may be on its way to the handler when the owner goes.
    struct state {
        state(asio::any_io_executor const& executor, std::string const& unix_socket);

        bare_connection connection;
        asio::steady_timer arrived;
        bool news = false;
        bool stopped = false;
    };
    static void receive(std::shared_ptr<state> s);

    std::shared_ptr<state> state_;
};

}  // namespace holdfast::bench

#endif
