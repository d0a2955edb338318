#include "store.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/redis/config.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/logger.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <tuple>
#include <utility>

namespace flash_sale {

namespace {

namespace redis = boost::redis;

constexpr auto stock_key = "sale:stock";
constexpr auto token_key = "sale:greatest-token";
constexpr auto sold_key = "sale:sold";
constexpr auto refused_key = "sale:refused";

constexpr std::int64_t too_old = -1;

// The fencing recipe of README.md: the token is claimed before the stock is read, and the sale is
// recorded only if nobody has claimed it since.

// KEYS: stock, greatest token. ARGV: token. The stock, or -1 for a token that is too old.
constexpr auto read_script = R"(
local token = tonumber(ARGV[1])
if token > 0 then
    if token < tonumber(redis.call('GET', KEYS[2]) or '0') then
        return -1
    end
    redis.call('SET', KEYS[2], ARGV[1])
end
return tonumber(redis.call('GET', KEYS[1]))
)";

// KEYS: stock, greatest token, sold, refused. ARGV: token, what is left, purchase. 1, or 0 for a
// token that is too old.
constexpr auto sale_script = R"(
local token = tonumber(ARGV[1])
if token > 0 and token ~= tonumber(redis.call('GET', KEYS[2])) then
    redis.call('INCR', KEYS[4])
    return 0
end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('RPUSH', KEYS[3], ARGV[3])
return 1
)";

redis::config make_config(std::string_view url) {
    auto const parsed = holdfast::parse_url(url);
    redis::config result;
    result.addr = {parsed.host, std::to_string(parsed.port)};
    result.unix_socket = parsed.unix_socket;
    result.username = parsed.username.empty() ? "default" : parsed.username;
    result.password = parsed.password;
    result.database_index = parsed.database;
    return result;
}

}  // namespace

store::store(asio::any_io_executor executor, std::string_view url)
    : connection_{std::make_shared<redis::connection>(
          std::move(executor),
          redis::logger{redis::logger::level::err}
      )} {
    connection_->async_run(make_config(url), asio::consign(asio::detached, connection_));
}

store::~store() {
    connection_->cancel();
}

asio::awaitable<std::int64_t> store::ask(redis::request const& request) {
    redis::response<std::int64_t> answer;
    // GCC 12 would destroy it twice as an operand of co_await; the same holds for the others below.
    auto asking = connection_->async_exec(request, answer, asio::deferred);
    co_await std::move(asking);
    co_return std::get<0>(answer).value();
}

asio::awaitable<void> store::open(std::int64_t items) {
    redis::request request;
    request.push("MULTI");
    request.push("DEL", token_key, sold_key, refused_key);
    request.push("SET", stock_key, items);
    request.push("EXEC");
    auto asking = connection_->async_exec(request, redis::ignore, asio::deferred);
    co_await std::move(asking);
}

asio::awaitable<std::optional<std::int64_t>> store::read_stock(holdfast::fencing_token token) {
    redis::request request;
    request.push("EVAL", read_script, 2, stock_key, token_key, token.value);
    auto const stock = co_await ask(request);
    if (token.value != 0 && stock == too_old) {
        co_return std::nullopt;
    }
    co_return stock;
}

asio::awaitable<bool> store::record_sale(
    std::int64_t left,
    std::string_view purchase,
    holdfast::fencing_token token
) {
    redis::request request;
    request.push(
        "EVAL",
        sale_script,
        4,
        stock_key,
        token_key,
        sold_key,
        refused_key,
        token.value,
        left,
        purchase
    );
    co_return co_await ask(request) == 1;
}

asio::awaitable<sale_state> store::look() {
    redis::request request;
    request.push("GET", stock_key);
    request.push("LLEN", sold_key);
    request.push("GET", refused_key);
    redis::response<std::optional<std::int64_t>, std::int64_t, std::optional<std::int64_t>> answer;
    auto asking = connection_->async_exec(request, answer, asio::deferred);
    co_await std::move(asking);
    co_return sale_state{
        .stock = std::get<0>(answer).value().value_or(0),
        .sold = std::get<1>(answer).value(),
        .refused = std::get<2>(answer).value().value_or(0),
    };
}

}  // namespace flash_sale
