#include <holdfast/client.hpp>

#include "ops/client_state.hpp"
#include "redis/boost_redis_port.hpp"

#include <utility>

namespace holdfast {

client::client(asio::any_io_executor executor, config settings, detail::asio_abi_here)
    : state_{detail::client_state::make(
          std::move(executor),
          std::move(settings),
          &detail::make_boost_redis_port
      )} {}

client& client::operator=(client&& other) noexcept {
    if (this != &other) {
        client const old{std::exchange(state_, std::move(other.state_))};
    }
    return *this;
}

client::~client() {
    if (state_) {
        state_->abandon();
    }
}

holdfast::lock client::lock(std::string_view name) const {
    return {state_, name};
}

stats client::stats() const {
    return state_->snapshot();
}

asio::any_io_executor client::get_executor() const noexcept {
    return state_->executor();
}

namespace detail {

void start_ready(std::shared_ptr<client_state> client, plain_handler handler) {
    client->ready(std::move(handler));
}

void start_shutdown(std::shared_ptr<client_state> client, plain_handler handler) {
    client->shutdown(std::move(handler));
}

}  // namespace detail
}  // namespace holdfast
