#include "support/foreign/wake_ups.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast::test {

namespace asio = boost::asio;

void wake_ups::give() {
    if (asleep_.empty()) {
        kept_ = kept_ < most_ ? kept_ + 1 : most_;
        return;
    }
    auto& first = *asleep_.front();
    asleep_.pop_front();
    first.woken = true;
    first.timer.cancel();
}

void wake_ups::give_all() {
    while (!asleep_.empty()) {
        give();
    }
}

asio::awaitable<void> wake_ups::take(time_point until) {
    if (kept_ > 0) {
        --kept_;
        co_return;
    }
    if (until <= std::chrono::steady_clock::now()) {
        co_return;
    }
    auto const executor = co_await asio::this_coro::executor;
    sleeper me{.timer = asio::steady_timer{executor, until}};
    asleep_.push_back(&me);
    co_await me.timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!me.woken) {
        asleep_.remove(&me);
    }
}

}  // namespace holdfast::test
