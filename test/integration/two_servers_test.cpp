// The two connections of a client end on the same server, or on none: after the name has moved to
// another one, a client that listened at the old one would never be woken.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

// Only the connection for commands asks for the time.
std::vector<connection_selector> const either_connection{
    connections_that_sent("TIME"),
    connections_that_sent("HELLO", "TIME"),
};

std::size_t clients_of(redis_server const& server, std::string const& name) {
    std::size_t count = 0;
    for (auto const& client : server.probe().client_list()) {
        count += client.at("name").starts_with(name);
    }
    return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(both_connections_follow_when_one_of_them_lands_on_another_server) {
    for (auto const& moved : either_connection) {
        with_server([&](redis_server& before, asio::any_io_executor executor) -> task {
            redis_server after;
            tcp_proxy proxy{before.unix_socket()};
            auto settings = holdfast::parse_url(proxy.url());
            settings.client_name = "moved";
            settings.reconnect_max = 200ms;
            holdfast::client client{executor, settings};
            co_await client.ready();
            BOOST_TEST(clients_of(before, "moved") == 2U);

            proxy.lead_to(after.unix_socket());
            proxy.cut(cut_kind::fin, moved);
            auto const both = [&] { return clients_of(after, "moved") == 2; };
            BOOST_TEST(co_await co_eventually(5s, both));
            BOOST_TEST(clients_of(before, "moved") == 0U);

            // A waiter is woken there.
            holdfast::client other{executor, after.url()};
            auto held = co_await other.lock("a").acquire({.lease = 1h});
            auto const waiting = start_acquire(client.lock("a"));
            auto const parked = [&] { return client.stats().refusals >= 2; };
            BOOST_TEST(co_await co_eventually(5s, parked));
            BOOST_TEST(!co_await release(held));
            BOOST_TEST(co_await co_eventually(2s, [&] { return waiting->done; }));
            BOOST_TEST(waiting->held.valid());
        });
    }
}
