#include <holdfast/client.hpp>

#include "client/client_state.hpp"
#include "redis/deployment/cluster.hpp"
#include "redis/deployment/sentinel.hpp"
#include "redis/deployment/single.hpp"
#include "tls_files.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace holdfast {

namespace {

config checked(config settings) {
    detail::check_tls_files(settings.tls);
    if (!settings.sentinels.empty()) {
        detail::check_tls_files(settings.sentinel_tls, "sentinel_tls");
    }
    return settings;
}

// Where a client gets its servers from.
std::unique_ptr<detail::backend> make_backend(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<detail::counters> count
) {
    auto* const make = !settings->cluster_nodes.empty() ? &detail::make_cluster
                       : !settings->sentinels.empty()   ? &detail::make_sentinel_deployment
                                                        : &detail::make_single_server;
    return make(std::move(strand), std::move(settings), std::move(count));
}

}  // namespace

std::string detail::format_name(fmt::string_view format, fmt::format_args arguments) {
    return fmt::vformat(format, arguments);
}

client::client(asio::any_io_executor executor, config settings, detail::asio_abi_here)
    : state_{detail::client_state::make(
          std::move(executor),
          checked(std::move(settings)),
          &make_backend
      )} {}

client::client(
    asio::any_io_executor executor,
    detail::backend_source& server,
    config settings,
    detail::asio_abi_here
)
    : state_{detail::client_state::make(
          executor,
          std::move(settings),
          [&](auto strand, auto const&, auto count) {
              return server.make_backend(executor, std::move(strand), std::move(count));
          }
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

holdfast::lock client::lock(lock_name name) const {
    return {state_, name.view()};
}

holdfast::fair_lock client::fair_lock(lock_name name) const {
    return {state_, name.view()};
}

holdfast::election client::election(lock_name name) const {
    return {state_, name.view()};
}

holdfast::latch client::latch(lock_name name) const {
    return {state_, name.view()};
}

holdfast::counting_semaphore client::counting_semaphore(lock_name name) const {
    return {state_, name.view()};
}

holdfast::read_write_lock client::read_write_lock(lock_name name) const {
    return {{state_, name.view()}, {state_, name.view()}};
}

holdfast::semaphore client::semaphore(lock_name name) const {
    return {state_, name.view()};
}

std::string const& client::id() const noexcept {
    return state_->client_id();
}

stats client::stats() const {
    return state_->snapshot();
}

client_status client::status() const {
    return state_->status();
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

void start_drain(
    std::shared_ptr<client_state> client,
    std::chrono::nanoseconds timeout,
    plain_handler handler
) {
    client->drain(timeout, std::move(handler));
}

}  // namespace detail
}  // namespace holdfast
