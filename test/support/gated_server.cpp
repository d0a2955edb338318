#include "support/gated_server.hpp"

#include "protocol/scripts.hpp"

#include <utility>

namespace holdfast::test {

namespace {

// Only the connection for commands asks the server for its time.
connection_selector command_connections() {
    return connections_that_sent("TIME");
}

connection_selector subscription_connections() {
    return connections_that_sent("HELLO", "TIME");
}

proxy_mode gate(bool closed) {
    return closed ? proxy_mode::stall() : proxy_mode::forward();
}

std::string channel_of(std::string const& name) {
    return "redisson_lock__channel:{" + name + "}";
}

}  // namespace

config patient_config() {
    config settings;
    settings.lease = 1h;
    settings.request_timeout = 60s;
    settings.connect_timeout = 20s;
    settings.health_check_interval = 60s;
    settings.fallback_poll_interval = 1h;
    settings.reconnect_min = 10ms;
    settings.reconnect_max = 50ms;
    return settings;
}

config short_config() {
    config settings;
    settings.lease = 2s;
    return settings;
}

gated_server::gated_server()
    : own_{std::in_place},
      server_{*own_},
      proxy_{server_.unix_socket()},
      probe_{server_.probe()} {}

gated_server::gated_server(redis_server& shared, std::string prefix)
    : server_{shared},
      prefix_{std::move(prefix)},
      proxy_{server_.unix_socket()},
      probe_{server_.probe()} {}

client gated_server::make_client(asio::any_io_executor executor, config settings) {
    settings.host = "127.0.0.1";
    settings.port = proxy_.port();
    settings.key_prefix = prefix_;
    return client{std::move(executor), std::move(settings)};
}

std::vector<std::string> gated_server::lock_keys() {
    auto all = prefix_.empty() ? probe_.lock_keys() : probe_.keys(prefix_ + "*");
    for (auto& key : all) {
        key.erase(0, prefix_.size());
    }
    return all;
}

std::size_t gated_server::subscriptions() {
    return probe_.pubsub_channels("redisson_lock__channel:{" + prefix_ + "*").size();
}

void gated_server::lock_as_other(std::string const& name, std::chrono::milliseconds lease) {
    probe_.cmd("HSET", prefix_ + name, "11111111-2222-4333-8444-555555555555:7", 1);
    probe_.cmd("PEXPIRE", prefix_ + name, lease.count());
}

void gated_server::unlock_as_other(std::string const& name) {
    probe_.del(prefix_ + name);
    probe_.publish(channel_of(prefix_ + name), "0");
}

std::size_t gated_server::arrived(std::string_view script) const {
    namespace scripts = holdfast::detail::scripts;
    for (auto const* known :
         {&scripts::lock_acquire,
          &scripts::lock_release,
          &scripts::lock_renew,
          &scripts::lock_renew_many,
          &scripts::lock_inspect,
          &scripts::lock_force_release,
          &scripts::multi_lock_acquire,
          &scripts::quorum_lock_acquire,
          &scripts::quorum_lock_raise_token}) {
        if (known->name == script) {
            return proxy_.commands_with("EVALSHA " + std::string{known->sha1});
        }
    }
    return proxy_.commands_with("EVALSHA ");
}

void gated_server::hold_requests(bool hold) {
    proxy_.set_mode(direction::to_server, gate(hold), command_connections());
}

void gated_server::hold_replies(bool hold) {
    proxy_.set_mode(direction::to_client, gate(hold), command_connections());
}

void gated_server::hold_confirmations(bool hold) {
    proxy_.set_mode(direction::to_client, gate(hold), subscription_connections());
}

void gated_server::set_up(bool up) {
    proxy_.refuse_new(!up);
    if (!up) {
        proxy_.cut(cut_kind::rst);
    }
}

task teach_scripts(redis_server& server, asio::any_io_executor executor) {
    client teacher{executor, server.url()};
    auto const lock = teacher.lock("lesson");
    auto lease = co_await lock.acquire();
    co_await lease.renew();
    static_cast<void>(co_await lock.inspect());
    co_await lease.release();
    static_cast<void>(co_await lock.force_release());
    multi_lock const both{lock, teacher.lock("another")};
    auto of_both = co_await both.acquire();
    co_await of_both.release();
    co_await teacher.shutdown();
    server.probe().flushall();
}

void with_gates(gated_body const& body, config settings) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        co_await teach_scripts(server, executor);
        gated_server gated{server, {}};
        auto connected = gated.make_client(executor, settings);
        co_await connected.ready();
        co_await body(gated, connected);
    });
}

}  // namespace holdfast::test
