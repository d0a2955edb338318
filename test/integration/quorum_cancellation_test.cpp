// An acquisition of a lock on several servers may be cancelled at any point, and leaves nothing.

#include "integration/quorum_fixture.hpp"
#include "support/gated_server.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <string>

using namespace holdfast::test;
using holdfast::quorum_lock;

namespace {

/// Three nodes behind gates, and a process that knows them.
struct gated_nodes {
    explicit gated_nodes(asio::any_io_executor const& executor) {
        auto settings = patient_config();
        settings.restart_delay = 0ms;
        for (auto& each : servers) {
            clients.push_back(each.make_client(executor, settings));
        }
    }
    quorum_lock lock(std::string const& name = "a") {
        return quorum_lock{clients[0].lock(name), clients[1].lock(name), clients[2].lock(name)};
    }
    void each(std::function<void(gated_server&)> const& what) {
        for (auto& one : servers) {
            what(one);
        }
    }
    bool all(std::function<bool(gated_server&)> const& holds) {
        return std::all_of(servers.begin(), servers.end(), holds);
    }

    std::array<gated_server, 3> servers;
    std::deque<holdfast::client> clients;
};

struct cancelled_at {
    char const* what;
    std::function<void(gated_server&)> before;
    // It has come so far on each node.
    std::function<bool(gated_server&)> reached;
    bool waits_for_the_reply;
};

task cancel_there(gated_nodes& nodes, cancelled_at const& point, asio::cancellation_type type) {
    for (auto& each : nodes.clients) {
        co_await each.ready();
    }
    // No node has to be told the scripts later: two of them are enough for a grant.
    auto once = co_await nodes.lock("another").acquire();
    auto const everywhere = [&] {
        return nodes.all([](gated_server& one) { return one.exists("another"); });
    };
    BOOST_TEST(co_await co_eventually(10s, everywhere));
    co_await once.release();
    auto const clean = [&] {
        return nodes.all([](gated_server& one) { return one.lock_keys().empty(); });
    };
    BOOST_TEST(co_await co_eventually(10s, clean));
    nodes.each(point.before);
    ended_quorum one;
    nodes.lock().acquire(one.handler());
    BOOST_TEST(co_await co_eventually(10s, [&] { return nodes.all(point.reached); }));
    co_await sleep_for(20ms);
    BOOST_TEST(!one.done());
    auto const open = [](gated_server& server) {
        server.hold_requests(false);
        server.hold_replies(false);
    };
    one.signal.emit(type);
    if (type == asio::cancellation_type::total && point.waits_for_the_reply) {
        co_await sleep_for(20ms);
        BOOST_TEST(!one.done());
        nodes.each(open);
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
        BOOST_TEST(one.lease.valid());
        one.lease = {};
    } else {
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
        BOOST_TEST(one.aborted());
    }
    nodes.each(open);
    nodes.each([](gated_server& server) {
        server.set_up(true);
        server.unlock_as_other("a");
    });
    BOOST_TEST(co_await co_eventually(10s, clean));
    auto const idle = [&] {
        return std::all_of(nodes.clients.begin(), nodes.clients.end(), [](auto const& each) {
            auto const now = each.stats();
            return now.leases_now == 0 && now.waiters_now == 0;
        });
    };
    BOOST_TEST(co_await co_eventually(10s, idle));
    auto const unheard = [&] {
        return nodes.all([](gated_server& server) { return server.subscriptions() == 0; });
    };
    BOOST_TEST(co_await co_eventually(10s, unheard));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_cancellation_at_any_point_leaves_nothing) {
    std::string const held = "a";
    cancelled_at const points[] = {
        {"the requests are not executed",
         [](gated_server& server) { server.hold_requests(true); },
         [](gated_server& server) { return server.arrived("quorum_lock.acquire") > 0; },
         true},
        {"the requests are not answered",
         [](gated_server& server) { server.hold_replies(true); },
         [&](gated_server& server) { return server.exists(held); },
         true},
        {"another holder is waited for",
         [](gated_server& server) { server.lock_as_other("a", 1h); },
         [](gated_server& server) { return server.subscriptions() > 0; },
         false},
        {"there is no connection",
         [](gated_server& server) { server.set_up(false); },
         [](gated_server&) { return true; },
         false},
    };
    for (auto const& point : points) {
        for (auto const type :
             {asio::cancellation_type::terminal,
              asio::cancellation_type::partial,
              asio::cancellation_type::total}) {
            BOOST_TEST_CONTEXT(point.what << ", type " << static_cast<int>(type)) {
                run_with_deadline([&](asio::any_io_executor executor) -> task {
                    gated_nodes nodes{executor};
                    co_await cancel_there(nodes, point, type);
                });
            }
        }
    }
}
