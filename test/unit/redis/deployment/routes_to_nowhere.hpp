#ifndef HOLDFAST_TEST_UNIT_REDIS_DEPLOYMENT_ROUTES_TO_NOWHERE_HPP
#define HOLDFAST_TEST_UNIT_REDIS_DEPLOYMENT_ROUTES_TO_NOWHERE_HPP

#include "redis/deployment/cluster_routes.hpp"
#include "unit/redis/nowhere.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

/// The routes of a client of a cluster none of whose ports is open. What its nodes would say is
/// said by the test.
struct routes_to_nowhere : nowhere {
    static constexpr detail::script example{"example", "return 1", ""};
    inline static std::string const two_halves = " 0 8191 127.0.0.1 11 8192 16383 127.0.0.1 12";

    explicit routes_to_nowhere(std::chrono::milliseconds lock_delay = {}) {
        auto made = std::make_shared<config>(*settings);
        made->unix_socket.clear();
        made->cluster_nodes = {{"127.0.0.1", 1}};
        made->lock_delay = lock_delay;
        made->replicas.count = 1;
        auto common = server();
        common.settings = std::move(made);
        common.with = detail::handshake::peer::cluster_node;
        to = std::make_shared<detail::cluster_routes>(std::move(common), std::chrono::hours{1});
        to->start(*this);
    }
    ~routes_to_nowhere() {
        to->stop();
        static_cast<void>(ends());
    }

    /// A node says which slots there are, and what follows has been done.
    void learn(std::string const& words, std::uint32_t by = 0) {
        to->on_slots(by, detail::script_reply{"42" + words});
        do_what_is_ready();
    }
    static detail::routed_call about(
        std::string_view key,
        std::chrono::nanoseconds timeout,
        std::optional<detail::exec_result>& got
    ) {
        detail::routed_call made{
            .what = detail::call{example, timeout},
            .handler = [&got](detail::exec_result result) { got = std::move(result); },
        };
        made.what.key(key);
        return made;
    }

    void on_moved(std::function<bool(std::string_view key)> const& these) override {
        moved = these;
    }
    void on_changed() override { ++changes; }
    void on_failed_over(std::uint32_t server) override { successors.push_back(server); }

    void on_forgotten(std::uint32_t server) override { forgotten.push_back(server); }

    std::function<bool(std::string_view key)> moved;
    int changes = 0;
    std::vector<std::uint32_t> successors;
    std::vector<std::uint32_t> forgotten;
    std::shared_ptr<detail::cluster_routes> to;
};

}  // namespace holdfast::test

#endif
