#include "collector.hpp"

#include "otlp_json.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <utility>

namespace traces {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;

constexpr auto awaited = asio::as_tuple(asio::deferred);
constexpr auto limit = 5s;

}  // namespace

asio::awaitable<void> collector::send() {
    auto const spans = from_->take();
    if (spans.empty()) {
        co_return;
    }
    bool const accepted = co_await post(to_otlp_json(how_.service_name, spans));
    (accepted ? sent_ : lost_) += spans.size();
}

asio::awaitable<void> collector::send_often() {
    asio::steady_timer timer{co_await asio::this_coro::executor};
    for (;;) {
        timer.expires_after(1s);
        auto const [error] = co_await timer.async_wait(awaited);
        if (error) {
            co_return;
        }
        co_await send();
    }
}

asio::awaitable<bool> collector::post(std::string body) {
    auto const executor = co_await asio::this_coro::executor;
    asio::ip::tcp::resolver resolver{executor};
    auto const [not_found, addresses] =
        co_await resolver.async_resolve(how_.host, how_.port, awaited);
    if (not_found) {
        co_return false;
    }
    beast::tcp_stream stream{executor};
    stream.expires_after(limit);
    auto const [not_there, address] = co_await stream.async_connect(addresses, awaited);
    if (not_there) {
        co_return false;
    }
    http::request<http::string_body> request{http::verb::post, "/v1/traces", 11};
    request.set(http::field::host, how_.host);
    request.set(http::field::content_type, "application/json");
    request.keep_alive(false);
    request.body() = std::move(body);
    request.prepare_payload();
    auto const [not_written, written] = co_await http::async_write(stream, request, awaited);
    if (not_written) {
        co_return false;
    }
    beast::flat_buffer buffer;
    http::response<http::string_body> response;
    auto const [not_answered, got] = co_await http::async_read(stream, buffer, response, awaited);
    co_return !not_answered && response.result() == http::status::ok;
}

}  // namespace traces
