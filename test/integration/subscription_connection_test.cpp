// The connection that carries notifications has more to read than anybody collects. (How it breaks:
// chaos/wire.)

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

using namespace holdfast::test;

namespace {

// No timer helps: neither the holder's lease nor the fallback poll interval ends within the test.
holdfast::config only_notifications(std::string const& url) {
    auto settings = holdfast::parse_url(url);
    settings.lease = 1h;
    settings.fallback_poll_interval = 1h;
    settings.request_timeout = 2s;
    settings.reconnect_max = 100ms;
    return settings;
}

}  // namespace

// Boost.Redis stops reading when 256 messages have not been collected.
BOOST_AUTO_TEST_CASE(messages_without_end_are_read) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client holder{executor, only_notifications(server.url())};
        holdfast::client client{executor, only_notifications(server.url())};
        auto probe = server.probe();
        auto held = co_await holder.lock("a").acquire();
        auto const waiting = start_acquire(client.lock("a"));
        constexpr auto where_nothing_is_said = "holdfast_waiters:{a}";
        auto const subscribed = [&] { return probe.pubsub_numsub(where_nothing_is_said) == 1; };
        BOOST_REQUIRE(co_await co_eventually(5s, subscribed));
        auto const before = client.stats().notifications;

        constexpr int many = 5000;
        for (int i = 0; i < many; ++i) {
            BOOST_REQUIRE(probe.publish(where_nothing_is_said, "nothing") == 1);
        }
        auto const all_read = [&] { return client.stats().notifications >= before + many; };
        BOOST_TEST(co_await co_eventually(5s, all_read));
        co_await held.release();
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(client.stats().reconnects == 0U);
    });
}
