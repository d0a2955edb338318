#include "support/bare_notifications.hpp"

#include "protocol/lock.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/redis/ignore.hpp>

#include <utility>

namespace holdfast::bench {

namespace redis = boost::redis;

bare_notifications::state::state(std::unique_ptr<bare_connection> on)
    : connection{std::move(on)},
      arrived{connection->get().get_executor(), asio::steady_timer::time_point::max()} {}

bare_notifications::bare_notifications(std::unique_ptr<bare_connection> connection)
    : state_{std::make_shared<state>(std::move(connection))} {
    receive(state_);
}

bare_notifications::~bare_notifications() {
    state_->stopped = true;
    state_->connection->get().cancel();
}

void bare_notifications::receive(std::shared_ptr<state> s) {
    auto& connection = s->connection->get();
    connection.async_receive2([s = std::move(s)](boost::system::error_code ec) mutable {
        if (ec || s->stopped) {
            return;
        }
        s->news = true;
        s->arrived.cancel();
        receive(std::move(s));
    });
}

asio::awaitable<void> bare_notifications::subscribe(std::string_view name) {
    redis::request request;
    request.push("SUBSCRIBE", detail::make_lock_target({}, name).channel());
    auto exec = state_->connection->get().async_exec(request, redis::ignore, asio::deferred);
    co_await std::move(exec)(asio::use_awaitable);
    co_await wait();  // for the confirmation
}

asio::awaitable<void> bare_notifications::wait() {
    while (!state_->news) {
        co_await state_->arrived.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

}  // namespace holdfast::bench
