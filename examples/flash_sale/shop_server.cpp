// One server of the flash sale: POST /buy, GET /stock, GET /stats. Prints the port that it listens
// on, and that of its metrics if it has them.
#include "exposed_metrics.hpp"
#include "shop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace flash_sale {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;
using asio::ip::tcp;

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

constexpr auto awaited = asio::as_tuple(asio::deferred);

struct answer {
    http::status status = http::status::ok;
    json::object body;
};

answer tell(http::status status, std::string_view key, json::value value) {
    answer result{status, {}};
    result.body.emplace(key, std::move(value));
    return result;
}

// Not inside a coroutine: GCC 12 miscompiles a switch over something awaited.
answer describe(purchase result) {
    switch (result) {
        case purchase::done: return tell(http::status::ok, "result", "bought");
        case purchase::sold_out: return tell(http::status::gone, "result", "sold out");
        case purchase::refused: break;
    }
    return tell(http::status::conflict, "result", "too late, please try again");
}

asio::awaitable<answer> route(shop& place, http::verb method, std::string_view target) {
    if (method == http::verb::post && target == "/buy") {
        auto const result = co_await place.buy();
        co_return describe(result);
    }
    if (method == http::verb::post && target == "/buy?hold=1") {
        co_await place.hold();
        co_return tell(http::status::conflict, "result", "the lock was lost");
    }
    if (method == http::verb::get && target == "/stock") {
        auto const stock = co_await place.stock();
        co_return tell(http::status::ok, "stock", stock);
    }
    if (method == http::verb::get && target == "/stats") {
        auto stats = place.stats();
        co_return answer{http::status::ok, std::move(stats)};
    }
    co_return tell(http::status::not_found, "result", "not found");
}

asio::awaitable<answer> route_safely(shop& place, request const& asked) {
    try {
        co_return co_await route(place, asked.method(), asked.target());
    } catch (std::exception const& e) {
        co_return tell(http::status::service_unavailable, "result", e.what());
    }
}

asio::awaitable<void> serve(tcp::socket socket, std::shared_ptr<shop> place) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay{true}, ignored);
    beast::tcp_stream stream{std::move(socket)};
    beast::flat_buffer buffer;
    for (;;) {
        request asked;
        auto const [read_error, read] = co_await http::async_read(stream, buffer, asked, awaited);
        if (read_error) {
            co_return;
        }
        auto const decided = co_await route_safely(*place, asked);
        response reply{decided.status, asked.version()};
        reply.set(http::field::content_type, "application/json");
        reply.keep_alive(asked.keep_alive());
        reply.body() = json::serialize(decided.body);
        reply.prepare_payload();
        auto const [error, written] = co_await http::async_write(stream, reply, awaited);
        if (error || !reply.keep_alive()) {
            co_return;
        }
    }
}

asio::awaitable<void> accept(tcp::acceptor acceptor, std::shared_ptr<shop> place) {
    auto const executor = acceptor.get_executor();
    for (;;) {
        auto [error, socket] = co_await acceptor.async_accept(awaited);
        if (!error) {
            asio::co_spawn(executor, serve(std::move(socket), place), asio::detached);
        }
    }
}

// What the acceptor and the connections still wait for when it returns ends with the io_context.
asio::awaitable<void> run(shop_options const& options, std::uint16_t metrics_port) {
    auto const executor = co_await asio::this_coro::executor;
    asio::signal_set signals{executor, SIGINT, SIGTERM};
    auto const place = std::make_shared<shop>(executor, options);
    co_await place->ready();

    tcp::acceptor acceptor{executor, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    fmt::print("{} {}\n", acceptor.local_endpoint().port(), metrics_port);
    std::fflush(stdout);
    asio::co_spawn(executor, accept(std::move(acceptor), place), asio::detached);

    co_await signals.async_wait(awaited);
    co_await place->close();
}

int serve_until_signalled(shop_options options, std::optional<std::uint16_t> metrics_port) {
    std::optional<exposed_metrics> metrics;
    if (metrics_port) {
        metrics.emplace(*metrics_port);
        options.observer = metrics->observer();
        metrics_port = metrics->port();
    }
    asio::io_context context{1};
    std::exception_ptr failure;
    asio::co_spawn(context, run(options, metrics_port.value_or(0)), [&](std::exception_ptr thrown) {
        failure = thrown;
        context.stop();
    });
    context.run();
    if (failure) {
        std::rethrow_exception(failure);
    }
    return 0;
}

}  // namespace

}  // namespace flash_sale

int main(int argc, char** argv) {
    CLI::App app{"A server of the flash sale"};
    flash_sale::shop_options options;
    app.add_option("--redis", options.url, "URL of the Redis server that has the stock")
        ->required();
    app.add_option("--locks", options.locks, "URL of the servers of the locks")->required();
    app.add_flag(
        "--lock,!--no-lock",
        options.locked,
        "Sell under the lock (default), or without it"
    );
    std::optional<std::uint16_t> metrics_port;
    app.add_option("--metrics", metrics_port, "Port for the locks' metrics; 0 for any");
    CLI11_PARSE(app, argc, argv);
    try {
        return flash_sale::serve_until_signalled(options, metrics_port);
    } catch (std::exception const& e) {
        fmt::print(stderr, "shop_server: {}\n", e.what());
        return 1;
    }
}
