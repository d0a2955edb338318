#include "redis/deployment/sentinel.hpp"

#include "redis/deployment/sentinels.hpp"
#include "redis/deployment/single.hpp"
#include "redis/supervisor.hpp"
#include "redis/tls.hpp"

#include <utility>

namespace holdfast::detail {

std::unique_ptr<backend> make_sentinel_deployment(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
) {
    auto named_by = std::make_shared<sentinels>(strand, settings);
    auto trust = std::make_shared<tls_trust>(settings->tls);
    auto log = std::make_shared<connection_log>(settings->log);
    return make_server_backend({
        .strand = std::move(strand),
        .settings = std::move(settings),
        .count = std::move(count),
        .trust = std::move(trust),
        .log = std::move(log),
        .source = std::move(named_by),
    });
}

}  // namespace holdfast::detail
