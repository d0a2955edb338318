// An operation says "busy" only if the server said so after the operation began. What another
// operation was told before does not count.

#include "support/one_server.hpp"

using namespace holdfast::test;

namespace {

constexpr auto java_holder = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1";

void hold_from_java(redis_probe& probe, std::chrono::milliseconds ttl) {
    probe.cmd("HSET", "a", java_holder, 1);
    probe.cmd("PEXPIRE", "a", ttl.count());
}

task parks(holdfast::client const& client) {
    // One attempt before the subscription, one after it.
    bool const parked = co_await co_eventually(5s, [&] { return client.stats().refusals >= 2; });
    BOOST_REQUIRE(parked);
}

using acquisition_ptr = std::shared_ptr<acquisition>;

// How an operation may come to a lock that another one waits for.
acquisition_ptr acquire(holdfast::lock const& lock) {
    return start_acquire(lock);
}

acquisition_ptr try_acquire(holdfast::lock const& lock) {
    auto result = std::make_shared<acquisition>();
    lock.try_acquire(keep(result));
    return result;
}

acquisition_ptr try_acquire_for_2_s(holdfast::lock const& lock) {
    auto result = std::make_shared<acquisition>();
    lock.try_acquire_for(2s, keep(result));
    return result;
}

// Ends the key that `java_holder` has, without a message.
using ending = void (*)(redis_probe&);

void deleted(redis_probe& probe) {
    probe.del("a");
}

void shortened(redis_probe& probe) {
    probe.cmd("PEXPIRE", "a", 1);
}

// Another operation was told "busy" a second before.
void check_not_busy_after(void (redis_server::*end)()) {
    with_server([=](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.shutdown_timeout = 300ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        hold_from_java(probe, 60s);
        auto const parked = start_acquire(client.lock("a"));
        co_await parks(client);
        co_await sleep_for(1s);

        (server.*end)();
        for (int i = 0; i < 2; ++i) {
            auto [ec, none] = co_await client.lock("a").try_acquire_for(1s, as_result);
            BOOST_TEST((ec == errc::unreachable), ec.message());
            BOOST_TEST(!none);
        }
        BOOST_TEST(!parked->done);
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(nobody_is_told_busy_when_the_server_has_died_since_the_last_answer) {
    check_not_busy_after(&redis_server::kill);
}

BOOST_AUTO_TEST_CASE(nobody_is_told_busy_when_the_server_has_stopped_since_the_last_answer) {
    check_not_busy_after(&redis_server::pause);
}

BOOST_AUTO_TEST_CASE(who_comes_later_asks_the_server_though_a_neighbour_sleeps) {
    for (auto const come : {acquire, try_acquire, try_acquire_for_2_s}) {
        for (ending const end : {deleted, shortened}) {
            with_server([=](redis_server& server, asio::any_io_executor executor) -> task {
                holdfast::client client{executor, server.url()};
                auto probe = server.probe();
                hold_from_java(probe, 60s);
                auto const parked = start_acquire(client.lock("a"));
                co_await parks(client);
                co_await sleep_for(1s);  // the other operation's answer is old by now

                end(probe);
                co_await sleep_for(50ms);
                auto const late = come(client.lock("a"));
                auto const one_has_it = [&] { return parked->held || late->held; };
                BOOST_TEST(co_await co_eventually(1500ms, one_has_it));
                BOOST_TEST(!late->error, late->error.message());
                parked->held = {};
                late->held = {};
                auto const served = [&] { return parked->done && late->done; };
                BOOST_TEST(co_await co_eventually(3s, served));
            });
        }
    }
}
