#include "redis/deployment/single.hpp"

#include "redis/server.hpp"
#include "redis/tls.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::detail {

namespace {

class server_backend final : public backend {
public:
    explicit server_backend(server_context of) : context_{std::move(of)} {}

    void start(backend_events& events) override {
        if (!server_) {
            server_.emplace(context_, events);
        }
        server_->start();
        if (context_.source) {
            context_.source->start([this](config const& there) { server_->move_to(there); });
        }
    }
    void stop() override {
        if (server_) {
            server_->stop();
        }
        if (context_.source) {
            context_.source->stop();
        }
    }
    void exec(call&& what, exec_handler&& handler) override {
        server_->exec(std::move(what), std::move(handler));
    }
    void exec_replicated(call&& what, replication const& wanted, replicated_handler&& handler)
        override {
        server_->exec_replicated(std::move(what), wanted, std::move(handler));
    }
    [[nodiscard]] subscription subscribe(std::string channel, subscriber& to) override {
        return server_->subscribe(std::move(channel), to);
    }
    [[nodiscard]] bool up(connection_id::purpose what) const override {
        return server_ && server_->up(what);
    }
    [[nodiscard]] std::optional<lease_clock::time_point> silent_since(std::uint16_t
    ) const override {
        return server_ ? server_->silent_since() : std::nullopt;
    }
    [[nodiscard]] obstacle why_down() const override {
        return server_ ? server_->why_down() : obstacle{};
    }
    [[nodiscard]] identity who(std::uint32_t) const override {
        return server_ ? server_->who() : identity{};
    }

private:
    server_context context_;
    std::optional<server> server_;
};

}  // namespace

std::unique_ptr<backend> make_server_backend(server_context of) {
    return std::make_unique<server_backend>(std::move(of));
}

std::unique_ptr<backend> make_single_server(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
) {
    auto trust = std::make_shared<tls_trust>(settings->tls);
    auto log = std::make_shared<connection_log>(settings->log);
    return make_server_backend(server_context{
        .strand = std::move(strand),
        .settings = std::move(settings),
        .count = std::move(count),
        .trust = std::move(trust),
        .log = std::move(log),
    });
}

}  // namespace holdfast::detail
