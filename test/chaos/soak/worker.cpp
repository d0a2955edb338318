#include "soak/worker.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace holdfast::soak {

namespace asio = boost::asio;
using namespace std::chrono_literals;

worker::worker(workplace& where, asio::any_io_executor executor, std::uint64_t seed)
    : where_{where},
      executor_{std::move(executor)},
      resource_{executor_, where.resource},
      random_{seed} {}

std::int64_t worker::draw(std::int64_t below) {
    return std::uniform_int_distribution<std::int64_t>{0, below - 1}(random_);
}

nanos worker::draw_ms(std::int64_t from, std::int64_t to) {
    return std::chrono::microseconds{1000 * from + draw(1000 * (to - from) + 1)};
}

asio::awaitable<void> worker::sleep_for(nanos duration) const {
    asio::steady_timer timer{executor_, duration};
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> worker::run() {
    for (;;) {
        bool const last = where_.closing;
        bool const had_it = co_await take_turn(last);
        if (last && had_it) {
            co_return;
        }
        // An error that does not pass must not make it run hot.
        auto const rest = had_it ? draw_ms(0, 4) : 10ms;
        co_await sleep_for(rest);
    }
}

}  // namespace holdfast::soak
