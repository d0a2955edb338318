#include "buyers.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>

#include <stdexcept>
#include <utility>

namespace flash_sale {

using namespace std::chrono_literals;

asio::awaitable<void> pause_for(std::chrono::milliseconds time) {
    asio::steady_timer timer{co_await asio::this_coro::executor, time};
    co_await timer.async_wait();
}

asio::awaitable<void> buyer(std::shared_ptr<sale_floor> floor, std::size_t number) {
    auto const executor = co_await asio::this_coro::executor;
    auto server = number % floor->ports.size();
    std::size_t failures = 0;
    std::optional<http_connection> connection;
    while (!floor->closed) {
        if (floor->bought >= floor->wait_at) {
            co_await pause_for(5ms);
            continue;
        }
        if (!connection) {
            connection.emplace(executor, floor->ports[server]);
        }
        auto const reply = co_await connection->send(http::verb::post, "/buy", answer_limit);
        if (!reply) {
            ++floor->unanswered;
            if (++failures == 3 * floor->ports.size()) {
                throw std::runtime_error{"no server answers any more"};
            }
            connection.reset();
            server = (server + 1) % floor->ports.size();
            continue;
        }
        failures = 0;
        if (reply->status == http::status::gone) {
            co_return;
        }
        if (reply->status == http::status::ok) {
            ++floor->bought;
        } else {
            ++floor->turned_away;
            co_await pause_for(10ms);
        }
    }
}

asio::awaitable<std::optional<lock_stats>> ask_stats(http_connection& server) {
    auto const reply = co_await server.send(http::verb::get, "/stats", answer_limit);
    if (!reply || reply->status != http::status::ok) {
        co_return std::nullopt;
    }
    auto const said = boost::json::parse(reply->body);
    lock_stats result;
    result.holding = said.at("holding").to_number<std::uint64_t>();
    result.waits = said.at("lock_waits").to_number<std::uint64_t>();
    result.renewals = said.at("renewals").to_number<std::uint64_t>();
    result.longest_wait =
        std::chrono::duration<double, std::milli>{said.at("longest_wait_ms").to_number<double>()};
    co_return result;
}

}  // namespace flash_sale
