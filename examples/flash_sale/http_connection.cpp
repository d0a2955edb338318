#include "http_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http.hpp>

#include <utility>

namespace flash_sale {

namespace {

using asio::ip::tcp;

constexpr auto awaited = asio::as_tuple(asio::deferred);

}  // namespace

http_connection::http_connection(asio::any_io_executor executor, std::uint16_t port)
    : stream_{std::move(executor)},
      port_{port} {}

asio::awaitable<std::optional<http_reply>> http_connection::send(
    http::verb method,
    std::string_view target,
    std::chrono::seconds patience
) {
    stream_.expires_after(patience);
    if (!connected_) {
        tcp::endpoint const server{asio::ip::address_v4::loopback(), port_};
        auto const [error] = co_await stream_.async_connect(server, awaited);
        if (error) {
            co_return std::nullopt;
        }
        boost::system::error_code ignored;
        stream_.socket().set_option(tcp::no_delay{true}, ignored);
        connected_ = true;
    }

    http::request<http::empty_body> request{method, target, 11};
    request.set(http::field::host, "localhost");
    request.prepare_payload();
    auto const [write_error, written] = co_await http::async_write(stream_, request, awaited);
    if (write_error) {
        co_return std::nullopt;
    }

    http::response<http::string_body> response;
    auto const [error, read] = co_await http::async_read(stream_, buffer_, response, awaited);
    if (error) {
        co_return std::nullopt;
    }
    stream_.expires_never();
    co_return http_reply{response.result(), std::move(response.body())};
}

}  // namespace flash_sale
