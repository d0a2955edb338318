#ifndef FLASH_SALE_HTTP_CONNECTION_HPP
#define FLASH_SALE_HTTP_CONNECTION_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flash_sale {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

/// Longer than any lease, so that only a dead server leaves a request unanswered.
inline constexpr std::chrono::seconds answer_limit{20};

struct http_reply {
    http::status status = http::status::unknown;
    std::string body;
};

/// A connection to one server on this machine, kept alive between requests.
class http_connection {
public:
    http_connection(asio::any_io_executor executor, std::uint16_t port);

    /// Nothing if the server was not there, or ended or fell silent before it had answered.
    asio::awaitable<std::optional<http_reply>> send(
        http::verb method,
        std::string_view target,
        std::chrono::seconds patience
    );

private:
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::uint16_t port_;
    bool connected_ = false;
};

}  // namespace flash_sale

#endif
