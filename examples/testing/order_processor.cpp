#include "order_processor.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/system/system_error.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace shop {

namespace {

holdfast::fencing_token token_for(holdfast::lease const& lease) {
#ifdef PLANT_FORGOTTEN_TOKEN
    // The bug that a test has to find: a token that is never refused.
    static_cast<void>(lease);
    return {std::numeric_limits<std::uint64_t>::max()};
#else
    return lease.token();
#endif
}

}  // namespace

order_processor::order_processor(
    std::string name,
    holdfast::client& locks,
    order_table& orders,
    packing_line& line,
    std::chrono::seconds patience
)
    : name_{std::move(name)},
      locks_{locks},
      orders_{orders},
      line_{line},
      patience_{patience} {}

asio::awaitable<outcome> order_processor::process(int order) {
    auto lock = locks_.lock("order:{}", order);
    auto [error, lease] = co_await lock.try_acquire_for(patience_, asio::as_tuple(asio::deferred));
    if (error) {
        if (holdfast::is_retryable(error)) {
            co_return outcome::unavailable;
        }
        throw boost::system::system_error{error};
    }
    if (!lease) {
        co_return outcome::busy;
    }
    if (co_await orders_.is_packed(order)) {
        co_return outcome::packed_before;
    }
    co_await line_.pack(order);
    // Do not even ask for what would be refused.
    if (!lease.valid()) {
        co_return outcome::lost;
    }
    // The lease may end while the request is on its way. The token tells the table.
    bool const written = co_await orders_.write(order, "packed by " + name_, token_for(lease));
    co_return written ? outcome::packed : outcome::lost;
}

}  // namespace shop
