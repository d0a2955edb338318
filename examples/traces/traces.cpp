// Two clients want one lock while their traces go to an OpenTelemetry collector: how long each
// waited for it and held it, as a part of the order that needed it. usage: traces COLLECTOR_HOST
// COLLECTOR_PORT REDIS_URL
#include "../main.hpp"
#include "collector.hpp"
#include "lock_tracer.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

holdfast::config traced(std::string const& url, std::shared_ptr<traces::finished_spans> const& to) {
    auto config = holdfast::parse_url(url);
    config.observer = std::make_shared<traces::lock_tracer>(to);
    return config;
}

asio::awaitable<void> place_order(
    holdfast::client& client,
    traces::finished_spans& spans,
    std::string_view name
) {
    traces::span order{.self = traces::new_span_context(), .name = std::string{name}};
    auto const lock = client.lock("lock:order");
    traces::lock_tracer::begin_below(order.self);
    auto lease = co_await lock.acquire();
    asio::steady_timer work{co_await asio::this_coro::executor, 50ms};
    co_await work.async_wait(asio::deferred);

    traces::lock_tracer::begin_below(order.self);
    auto const second = co_await lock.try_acquire();
    expect(!second, "a lock that is held was granted");

    co_await lease.release();
    spans.add(std::move(order));
}

asio::awaitable<void> trace(std::string const& url, traces::collector::options const& to) {
    auto const executor = co_await asio::this_coro::executor;
    auto const spans = std::make_shared<traces::finished_spans>();
    traces::collector collector{spans, to};
    asio::cancellation_signal done;
    asio::co_spawn(
        executor,
        collector.send_often(),
        asio::bind_cancellation_slot(done.slot(), asio::detached)
    );
    {
        holdfast::client first{executor, traced(url, spans)};
        holdfast::client second{executor, traced(url, spans)};
        co_await (
            place_order(first, *spans, "order of the first") &&
            place_order(second, *spans, "order of the second")
        );
        co_await (first.shutdown(asio::use_awaitable) && second.shutdown(asio::use_awaitable));
    }
    done.emit(asio::cancellation_type::terminal);
    co_await collector.send();
    fmt::print("{} spans sent, {} lost\n", collector.sent(), collector.lost() + spans->dropped());
    expect(collector.lost() == 0, "the collector did not accept them: is it there?");
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 4) {
        fmt::print(stderr, "usage: traces COLLECTOR_HOST COLLECTOR_PORT REDIS_URL\n");
        return 2;
    }
    run(trace(argv[3], {.host = argv[1], .port = argv[2]}));
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
