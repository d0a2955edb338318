#ifndef FLASH_SALE_STORE_HPP
#define FLASH_SALE_STORE_HPP

#include <holdfast/fencing_token.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/redis/connection.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace flash_sale {

namespace asio = boost::asio;

/// The lock that guards the stock.
inline constexpr std::string_view lock_name = "flash-sale:stock";

/// What is written in Redis at one moment.
struct sale_state {
    std::int64_t stock = 0;
    std::int64_t sold = 0;
    std::int64_t refused = 0;
};

/// The stock of the sale: a plain counter in Redis, read by one command and written back by
/// another.
///
/// With a fencing token, reading claims the stock: the store remembers the greatest token that it
/// has seen, and refuses to read or write with a smaller one. Once a new holder has read the stock,
/// no older one can change it any more. A token of 0 stands for "no lock": then nothing is checked.
class store {
public:
    store(asio::any_io_executor executor, std::string_view url);
    ~store();
    store(store const&) = delete;
    store& operator=(store const&) = delete;

    /// Puts `items` on the shelf and forgets all earlier sales.
    asio::awaitable<void> open(std::int64_t items);

    /// Claims the stock and reads it. Nothing if the token is too old.
    asio::awaitable<std::optional<std::int64_t>> read_stock(holdfast::fencing_token token);

    /// Writes back what is left and records the sale in the same step. False if the stock was
    /// claimed by a newer token, or never by this one.
    asio::awaitable<bool> record_sale(
        std::int64_t left,
        std::string_view purchase,
        holdfast::fencing_token token
    );

    asio::awaitable<sale_state> look();

private:
    asio::awaitable<std::int64_t> ask(boost::redis::request const& request);

    std::shared_ptr<boost::redis::connection> connection_;
};

}  // namespace flash_sale

#endif
