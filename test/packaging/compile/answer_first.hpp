// A recipe of the documentation, word for word: see test/unit/pages_test.cpp. It is tested in
// test/unit/answer_first_recipe_test.cpp.
// clang-format off

#include <holdfast.hpp>
#include <boost/asio/awaitable.hpp>

namespace asio = boost::asio;

asio::awaitable<void> place_order(
    holdfast::client& client,
    int order,
    asio::awaitable<void> (*work)(holdfast::fencing_token),
    asio::awaitable<void> (*answer)(),
    void (*report)(boost::system::error_code)
) {
    auto lock = client.lock("lock:order:{}", order);
    auto lease = co_await lock.acquire();
    co_await work(lease.token());
    lease.release(report);  // starts the release, does not wait for it
    co_await answer();
}
