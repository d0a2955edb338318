#ifndef HOLDFAST_TEST_UNIT_REDIS_NOWHERE_HPP
#define HOLDFAST_TEST_UNIT_REDIS_NOWHERE_HPP

#include "redis/supervisor.hpp"
#include "redis/tls.hpp"
#include "runtime/counters.hpp"
#include "runtime/strand.hpp"
#include "support/log_lines.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

/// For connections to a socket that is not there: they fail at once, and are tried again at once.
class nowhere : public detail::backend_events {
public:
    explicit nowhere(std::string const& missing_ca_file = {}) {
        config made;
        if (missing_ca_file.empty()) {
            made.unix_socket = "/nowhere/redis.sock";
        } else {
            made.tls = {.enabled = true, .ca_file = missing_ca_file};
        }
        made.reconnect_min = made.reconnect_max = std::chrono::milliseconds{1};
        made.log = log.sink();
        settings = std::make_shared<config const>(std::move(made));
    }

    detail::server_context server() const {
        return {
            .strand = strand,
            .settings = settings,
            .count = count,
            .trust = std::make_shared<detail::tls_trust>(settings->tls),
            .log = std::make_shared<detail::connection_log>(settings->log),
            .number = 3,
        };
    }
    /// False if it never holds.
    bool eventually(std::function<bool()> const& holds) {
        auto const limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (!holds() && std::chrono::steady_clock::now() < limit) {
            context.restart();
            context.run_one_for(std::chrono::milliseconds{100});
        }
        return holds();
    }
    /// How often a connection to this address could not be made, or ended.
    std::size_t failures_at(std::string_view address) const {
        auto const there = std::string{address} + ' ';
        return static_cast<std::size_t>(std::ranges::count_if(unconnected, [&](auto const& each) {
            return each.second.find(there) != std::string::npos;
        }));
    }
    /// What is ready now is done. On a slow machine there is always more: what has failed is tried
    /// again a millisecond later.
    void do_what_is_ready() {
        context.restart();
        for (int i = 0; i < 200 && context.poll_one() != 0; ++i) {
        }
    }
    /// Nothing is left to do.
    bool ends() {
        context.restart();
        context.run_for(std::chrono::seconds{20});
        return context.stopped();
    }

    void on_up(detail::connection_id) override { ups += 1; }
    void on_down(detail::connection_id) override { downs += 1; }
    void on_failure(detail::connection_id which, error_code cause) override {
        failures.emplace_back(which, cause);
    }
    void on_unconnected(detail::connection_id, error_code cause, std::string_view text) override {
        unconnected.emplace_back(cause, text);
    }
    void on_closed(std::uint32_t server) override { left.push_back(server); }

    log_lines log;
    std::shared_ptr<config const> settings;
    std::shared_ptr<detail::counters> count = std::make_shared<detail::counters>();
    int ups = 0;
    int downs = 0;
    std::vector<std::pair<detail::connection_id, error_code>> failures;
    // Each attempt that failed, and the text that says why.
    std::vector<std::pair<error_code, std::string>> unconnected;
    std::vector<std::uint32_t> left;
    boost::asio::io_context context;
    asio::any_io_executor strand = detail::strand{asio::any_io_executor{context.get_executor()}};
};

}  // namespace holdfast::test

#endif
