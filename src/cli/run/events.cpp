#include "cli/run/events.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace holdfast::cli {

void run_events::put(run_event what) {
    all_.push_back(std::move(what));
    something_.cancel();
}

asio::awaitable<run_event> run_events::next() {
    while (all_.empty()) {
        error_code woken;
        something_.expires_at(detail::timer::time_point::max());
        auto waiting = something_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        co_await std::move(waiting);
    }
    auto const first = all_.front();
    all_.pop_front();
    co_return first;
}

void run_events::look_at(lease_clock::time_point when) {
    if (look_at_ && *look_at_ <= when) {
        return;
    }
    look_at_ = when;
    detail::sleep_until(look_, when);
    look_.async_wait([this, when](error_code ec) {
        if (!ec && look_at_ == when) {
            look_at_.reset();
            put(look_due{});
        }
    });
}

}  // namespace holdfast::cli
