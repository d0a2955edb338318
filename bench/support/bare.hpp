#ifndef HOLDFAST_BENCH_SUPPORT_BARE_HPP
#define HOLDFAST_BENCH_SUPPORT_BARE_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

namespace asio = boost::asio;

/// A connection of Boost.Redis and nothing around it: the floor.
class bare_connection {
public:
    bare_connection(asio::any_io_executor executor, std::string const& unix_socket);
    /// To a port of this machine.
    bare_connection(asio::any_io_executor executor, std::uint16_t port);
    bare_connection(bare_connection const&) = delete;
    bare_connection& operator=(bare_connection const&) = delete;
    ~bare_connection();

    [[nodiscard]] boost::redis::connection& get() noexcept { return *connection_; }

private:
    bare_connection(asio::any_io_executor executor, boost::redis::config where);

    // Shared with its own run: Boost.Redis hands out pointers to it until the last handler has run.
    std::shared_ptr<boost::redis::connection> connection_;
};

/// Sends scripts, one after the other, with buffers that are used again.
class bare_caller {
public:
    explicit bare_caller(bare_connection& on) noexcept : connection_{&on.get()} {}

    /// EVALSHA; the reply is in `reply` until the next call.
    [[nodiscard]] asio::awaitable<void> call(
        std::string_view sha1,
        std::span<std::string_view const> words
    );

    /// Several in one request.
    struct command {
        std::string_view sha1;
        std::vector<std::string_view> words;
    };
    [[nodiscard]] asio::awaitable<void> call_all(std::span<command const> all);

    /// The last reply, which was a text; the first one of several.
    [[nodiscard]] std::string_view reply() const;

private:
    [[nodiscard]] asio::awaitable<void> exec();

    boost::redis::connection* connection_;
    boost::redis::request request_;
    boost::redis::generic_flat_response response_;
};

}  // namespace holdfast::bench

#endif
