// What a lease says of the time that is left: none where somebody else may have the lock already,
// the time to its deadline where work can still stop in time.

#include "support/one_server.hpp"

#include <optional>

using namespace holdfast::test;

namespace {

// The time between the loss and the deadline is three seconds.
holdfast::config early_warning(redis_server const& server) {
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 6s;
    settings.loss_margin = 0.5;
    return settings;
}

void check_over(holdfast::lease const& held, loss_reason why) {
    BOOST_TEST(!held.valid());
    BOOST_TEST((held.state() == lease_state::lost));
    BOOST_TEST((held.loss() == why));
    BOOST_TEST((held.remaining() == 0ns));
}

task check_counts_on(holdfast::lease& held, loss_reason why) {
    auto const lost = watch(held);
    BOOST_REQUIRE(co_await co_eventually(15s, [&] { return lost->told; }));
    BOOST_TEST((lost->reason == why));
    BOOST_TEST(!held.valid());
    auto const left = held.remaining();
    BOOST_TEST((left > 0ns));
    BOOST_TEST((left <= held.deadline() - lost->at));
    co_await sleep_for(100ms);
    BOOST_TEST((held.remaining() <= left - 100ms));
    auto const limit = std::chrono::ceil<std::chrono::milliseconds>(left) + 5s;
    BOOST_TEST(co_await co_eventually(limit, [&] { return held.remaining() == 0ns; }));
    BOOST_TEST((lease_clock::now() >= held.deadline()));
}

}  // namespace

// Before anything else has run.
BOOST_AUTO_TEST_CASE(nothing_is_left_once_the_client_is_destroyed) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto client = std::make_optional<holdfast::client>(executor, server.url());
        auto const held = co_await client->lock("a").acquire();
        BOOST_TEST(held.valid());
        client.reset();
        check_over(held, loss_reason::client_stopped);
    });
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_lock_that_another_holder_has) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        holdfast::client other{executor, server.url()};
        auto held = co_await client.lock("a").acquire();
        BOOST_TEST(co_await other.lock("a").force_release());
        auto const next = co_await other.lock("a").acquire();
        BOOST_TEST((co_await renew(held) == errc::lease_lost));
        check_over(held, loss_reason::taken);
        BOOST_TEST(next.valid());
    });
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_not_renewed_counts_down_to_its_deadline) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, early_warning(server)};
        acquire_options const fixed{.renew = false};
        auto held = co_await client.lock("a").acquire(fixed);
        co_await check_counts_on(held, loss_reason::expired);
    });
}
