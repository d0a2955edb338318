#include "redis/deployment/cluster.hpp"

#include "redis/deployment/cluster_routes.hpp"
#include "redis/tls.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

class cluster_backend final : public backend {
public:
    explicit cluster_backend(std::shared_ptr<cluster_routes> to) : to_{std::move(to)} {}

    void start(backend_events& events) override { to_->start(events); }
    void stop() override { to_->stop(); }
    void exec(call&& what, exec_handler&& handler) override {
        to_->exec(std::move(what), std::move(handler));
    }
    void exec_replicated(call&& what, replication const& wanted, replicated_handler&& handler)
        override {
        to_->exec_replicated(std::move(what), wanted, std::move(handler));
    }
    [[nodiscard]] subscription subscribe(std::string channel, subscriber& to) override {
        return to_->subscribe(std::move(channel), to);
    }
    [[nodiscard]] bool up(connection_id::purpose what) const override { return to_->up(what); }
    [[nodiscard]] obstacle why_down() const override { return to_->why_down(); }
    [[nodiscard]] identity who(std::uint32_t server) const override { return to_->who(server); }
    [[nodiscard]] bool clustered() const noexcept override { return true; }
    [[nodiscard]] std::optional<std::uint32_t> server_of(std::uint16_t slot) const override {
        return to_->server_of(slot);
    }
    [[nodiscard]] bool reach(std::uint16_t slot) override { return to_->reach(slot); }
    [[nodiscard]] std::optional<lease_clock::time_point> silent_since(std::uint16_t slot
    ) const override {
        return to_->silent_since(slot);
    }
    [[nodiscard]] obstacle why_out_of_reach(std::uint16_t slot) const override {
        return to_->why_out_of_reach(slot);
    }

private:
    std::shared_ptr<cluster_routes> to_;
};

}  // namespace

std::unique_ptr<backend> make_cluster_that_idles(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count,
    nanos idle_after
) {
    auto trust = std::make_shared<tls_trust>(settings->tls);
    auto log = std::make_shared<connection_log>(settings->log);
    server_context common{
        .strand = std::move(strand),
        .settings = std::move(settings),
        .count = std::move(count),
        .trust = std::move(trust),
        .log = std::move(log),
        .number = 0,
        .source = {},
        .with = handshake::peer::cluster_node,
    };
    return std::make_unique<cluster_backend>(
        std::make_shared<cluster_routes>(std::move(common), idle_after)
    );
}

std::unique_ptr<backend> make_cluster(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
) {
    // Longer than locks are usually held or waited for, and short beside the life of a program.
    constexpr std::chrono::minutes idle_after{1};
    return make_cluster_that_idles(
        std::move(strand),
        std::move(settings),
        std::move(count),
        idle_after
    );
}

}  // namespace holdfast::detail
