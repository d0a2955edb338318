// What `compile_time` measures: the whole library included, and a call of acquire.
#include <holdfast.hpp>

boost::asio::awaitable<void> use(holdfast::client& client) {
    auto lock = client.lock("stock");
    auto lease = co_await lock.acquire();
    co_await lease.release();
}
