// The server in memory as users have it, with real clients: time, faults, and what it shows.

#include "unit/in_virtual_time.hpp"

#include <holdfast.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <ctime>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::test::in_virtual_time;
using holdfast::testing::memory_server;
using holdfast::testing::virtual_time;
using outcome = holdfast::test::acquired;

BOOST_AUTO_TEST_SUITE(testing_test)

BOOST_FIXTURE_TEST_CASE(time_stands_still_but_for_the_test, in_virtual_time) {
    std::this_thread::sleep_for(5ms);
    server.settle();
    BOOST_TEST((passed() == 0s));
    server.advance(10s);
    BOOST_TEST((passed() == 10s));
    server.jump(1h);
    BOOST_TEST((passed() == 1h + 10s));
    BOOST_CHECK_THROW(server.advance(-1ns), std::invalid_argument);
    BOOST_CHECK_THROW(server.jump(-1ns), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_clock_never_goes_back) {
    auto const before = lease_clock::now();
    auto moved = before;
    {
        memory_server server{virtual_time};
        server.advance(1h);
        moved = lease_clock::now();
        BOOST_TEST((moved - before >= 1h));
    }
    BOOST_TEST((lease_clock::now() >= moved));
    BOOST_TEST((lease_clock::now() - moved < 1h));
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_renewed_when_that_is_due, in_virtual_time) {
    auto const held = take(client, "a");
    auto const first_deadline = held.deadline();
    auto const renewals = [&] { return client.stats().renewals; };
    server.advance(10s - 1ns);
    BOOST_TEST(renewals() == 0U);
    BOOST_TEST((held.deadline() == first_deadline));
    // The renewals of several leases are put together, within a tenth of a lease at most.
    server.advance(3s);
    BOOST_TEST(renewals() == 1U);
    BOOST_TEST((held.deadline() > first_deadline));
    // Two hours, in which it is never in doubt.
    bool const in_doubt =
        server.advance_until([&] { return held.state() != lease_state::held; }, 2h);
    BOOST_TEST(!in_doubt);
    BOOST_TEST(held.valid());
    BOOST_TEST(renewals() > 2U * 3'600 / 15);
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_lost_when_the_server_stands_still_for_longer, in_virtual_time) {
    auto held = take(client, "a");
    std::optional<loss_reason> told;
    held.wait_lost([&](error_code ec, loss_reason why) {
        BOOST_TEST(!ec);
        told = why;
    });
    server.pause();
    server.advance(20s);
    BOOST_TEST(held.valid());
    server.advance(10s);
    BOOST_TEST(!held.valid());
    BOOST_TEST((held.state() == lease_state::lost));
    BOOST_TEST_REQUIRE(told.has_value());
    BOOST_TEST((*told == loss_reason::unreachable));
    server.resume();
    server.advance(1min);
    BOOST_TEST(!held.valid());
    BOOST_TEST(!server.inspect("a").held);
}

BOOST_FIXTURE_TEST_CASE(a_lease_survives_a_pause_that_is_shorter, in_virtual_time) {
    auto const held = take(client, "a");
    server.pause();
    server.advance(20s);
    server.resume();
    server.advance(1min);
    BOOST_TEST(held.valid());
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_not_valid_after_the_program_stood_still, in_virtual_time) {
    auto const held = take(client, "a");
    server.jump(31s);
    BOOST_TEST(!held.valid());
    server.settle();
    BOOST_TEST((held.state() == lease_state::lost));
}

BOOST_FIXTURE_TEST_CASE(a_waiter_gets_the_lock_when_a_crashed_holders_lease_ends, in_virtual_time) {
    // Another process, which stands still: its context is not run.
    server.hold_as_other("a", 12s);
    outcome waiter;
    client.lock("a").acquire(waiter.handler());
    server.advance(11s);
    BOOST_TEST(!waiter.ended);
    BOOST_TEST(server.advance_until([&] { return waiter.ended.has_value(); }, 1min));
    BOOST_TEST(waiter.granted());
    BOOST_TEST((waiter.at - began >= 12s));
    BOOST_TEST((waiter.at - began <= 12s + 500ms));
}

BOOST_FIXTURE_TEST_CASE(a_waiter_is_woken_by_the_release, in_virtual_time) {
    holdfast::client other{context, server};
    auto held = take(client, "a");
    outcome waiter;
    other.lock("a").acquire(waiter.handler());
    server.advance(1min);
    BOOST_TEST(!waiter.ended);
    BOOST_TEST(server.inspect("a").waiting_clients == 1U);
    BOOST_TEST(!server.channels().empty());
    held = {};
    server.settle();
    BOOST_TEST(waiter.granted());
    BOOST_TEST((passed() == 1min));
    BOOST_TEST(server.inspect("a").waiting_clients == 0U);
}

BOOST_FIXTURE_TEST_CASE(the_time_of_a_waiter_is_up, in_virtual_time) {
    server.hold_as_other("a", 1h);
    outcome waiter;
    client.lock("a").try_acquire_for(2s, waiter.handler());
    server.advance(2s - 1ns);
    BOOST_TEST(!waiter.ended);
    server.advance(1ns);
    BOOST_TEST_REQUIRE(waiter.ended.has_value());
    BOOST_TEST(!*waiter.ended);
    BOOST_TEST(!waiter.got);
}

BOOST_FIXTURE_TEST_CASE(several_contexts_and_servers_share_one_time, in_virtual_time) {
    asio::io_context second;
    memory_server another{virtual_time};
    holdfast::client one{second, server};
    holdfast::client two{second, another};
    auto const a = take(client, "a");
    auto const b = take(one, "b");
    auto const c = take(two, "a");
    another.advance(10min);
    BOOST_TEST((a.valid() && b.valid() && c.valid()));
    BOOST_TEST(server.lock_keys() == (std::vector<std::string>{"a", "b"}));
    BOOST_TEST(another.lock_keys() == (std::vector<std::string>{"a"}));
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_may_move_time_itself, in_virtual_time) {
    auto const test = [&]() -> asio::awaitable<int> {
        auto held = co_await client.lock("a").acquire();
        server.advance(10min);
        BOOST_TEST(held.valid());
        server.lose_data();
        server.advance(1min);
        BOOST_TEST(!held.valid());
        co_return 7;
    };
    auto result = asio::co_spawn(context, test(), asio::use_future);
    BOOST_TEST(server.advance_until([&] { return result.wait_for(0s) == std::future_status::ready; }
    ));
    BOOST_TEST(result.get() == 7);
}

BOOST_FIXTURE_TEST_CASE(a_users_timer_of_the_lease_clock_follows_it_too, in_virtual_time) {
    asio::basic_waitable_timer<lease_clock> own{context};
    own.expires_after(5s);
    bool fired = false;
    own.async_wait([&](error_code ec) { fired = !ec; });
    server.advance(4s);
    BOOST_TEST(!fired);
    server.advance(2s);
    BOOST_TEST(fired);
}

BOOST_FIXTURE_TEST_CASE(a_client_keeps_its_context_busy_until_it_is_shut_down, in_virtual_time) {
    server.settle();
    BOOST_TEST(!context.stopped());
    bool down = false;
    client.shutdown([&](error_code ec) {
        BOOST_TEST(!ec);
        down = true;
    });
    context.run();
    BOOST_TEST(down);
}

BOOST_AUTO_TEST_CASE(running_time_can_be_moved_ahead) {
    asio::io_context context;
    memory_server server;
    holdfast::client client{context, server, holdfast::config{.lease = 10s}};
    server.settle();
    outcome result;
    client.lock("a").acquire(result.handler());
    server.settle();
    BOOST_TEST_REQUIRE(result.granted());
    auto const began = lease_clock::now();
    server.advance(10min);
    BOOST_TEST((lease_clock::now() - began >= 10min));
    BOOST_TEST(result.got.valid());
    auto const before = lease_clock::now();
    std::this_thread::sleep_for(1ms);
    BOOST_TEST((lease_clock::now() > before));
}

BOOST_AUTO_TEST_CASE(clients_of_a_thread_pool_work_in_running_time) {
    asio::thread_pool pool{4};
    memory_server server;
    holdfast::client client{pool, server};
    std::vector<std::future<void>> all;
    int count = 0;
    for (int i = 0; i < 50; ++i) {
        auto one = [&]() -> asio::awaitable<void> {
            auto held = co_await client.lock("a").acquire();
            ++count;
            co_await held.release();
        };
        all.push_back(asio::co_spawn(pool, std::move(one), asio::use_future));
    }
    for (auto& one : all) {
        one.get();
    }
    BOOST_TEST(count == 50);
    BOOST_CHECK_THROW(server.advance(1s), std::logic_error);
    // Its own threads run what is due then.
    auto held = client.lock("a").acquire(asio::use_future).get();
    auto lost = held.wait_lost(asio::use_future);
    server.jump(10min);
    lost.get();
    BOOST_TEST(!held.valid());
    client.shutdown(asio::use_future).get();
}

BOOST_FIXTURE_TEST_CASE(the_executors_of_a_context_and_of_its_strands_are_known, in_virtual_time) {
    holdfast::client one{asio::make_strand(context), server};
    holdfast::client two{asio::any_io_executor{asio::make_strand(one.get_executor())}, server};
    holdfast::client three{
        asio::prefer(context.get_executor(), asio::execution::outstanding_work.tracked),
        server
    };
    auto const a = take(one, "a");
    auto const b = take(two, "b");
    auto const c = take(three, "c");
    BOOST_TEST(server.clients() == 4U);
}

BOOST_FIXTURE_TEST_CASE(
    handlers_without_end_are_an_error_and_not_a_test_that_hangs,
    in_virtual_time
) {
    std::function<void()> again = [&] { asio::post(context, again); };
    again();
    BOOST_CHECK_THROW(server.settle(), std::logic_error);
    again = [] {};
    server.settle();
}

BOOST_FIXTURE_TEST_CASE(leases_survive_broken_connections, in_virtual_time) {
    auto const held = take(client, "a");
    server.drop_connections();
    server.settle();
    BOOST_TEST(client.stats().reconnects == 1U);
    server.advance(10min);
    BOOST_TEST(held.valid());
}

BOOST_FIXTURE_TEST_CASE(a_server_that_is_down_is_an_error_and_comes_back, in_virtual_time) {
    server.stop();
    server.settle();
    BOOST_TEST(server.clients() == 0U);
    outcome result;
    client.lock("a").try_acquire(result.handler());
    BOOST_TEST(server.advance_until([&] { return result.ended.has_value(); }, 1min));
    BOOST_TEST((*result.ended == errc::unreachable));
    server.start();
    static_cast<void>(take(client, "a"));
    BOOST_TEST(server.clients() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_lost_with_the_data, in_virtual_time) {
    auto const held = take(client, "a");
    BOOST_TEST(server.inspect("a").held);
    server.lose_data();
    BOOST_TEST(server.keys().empty());
    auto const next = take(client, "b");
    BOOST_TEST((next.token() > held.token()));
    server.advance(15s);
    BOOST_TEST(!held.valid());
    BOOST_TEST((held.loss() == loss_reason::deleted));
    auto const again = take(client, "a");
    BOOST_TEST((again.token() > held.token()));
}

BOOST_FIXTURE_TEST_CASE(several_servers_make_up_a_quorum, in_virtual_time) {
    memory_server second{virtual_time};
    memory_server third{virtual_time};
    holdfast::client b{context, second};
    holdfast::client c{context, third};
    holdfast::client same{context, third};
    server.advance(1min);  // until then they may have forgotten something
    error_code ec = errc::unreachable;
    holdfast::quorum_lease held;
    auto const handler = [&](error_code how, holdfast::quorum_lease got) {
        ec = how;
        held = std::move(got);
    };
    holdfast::quorum_lock const all{client.lock("a"), b.lock("a"), c.lock("a")};
    all.acquire(handler);
    server.settle();
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(held.valid());
    held = {};
    holdfast::quorum_lock const twice{client.lock("a"), b.lock("a"), c.lock("a"), same.lock("a")};
    twice.acquire(handler);
    server.settle();
    BOOST_TEST((ec == errc::invalid_options), ec.message());
}

BOOST_FIXTURE_TEST_CASE(one_name_on_several_servers_may_be_held_at_once, in_virtual_time) {
    memory_server second{virtual_time};
    holdfast::client other{context, second};
    holdfast::client same{context, server};
    server.settle();
    error_code ec = errc::unreachable;
    holdfast::multi_lease held;
    auto const handler = [&](error_code how, holdfast::multi_lease got) {
        ec = how;
        held = std::move(got);
    };
    holdfast::multi_lock const both{client.lock("a"), other.lock("a")};
    both.acquire(handler);
    server.advance(1s);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(held.valid());
    held = {};
    holdfast::multi_lock const twice{client.lock("a"), same.lock("a")};
    twice.acquire(handler);
    server.advance(1s);
    BOOST_TEST((ec == errc::invalid_options), ec.message());
}

BOOST_FIXTURE_TEST_CASE(the_next_request_fails_as_it_is_told, in_virtual_time) {
    server.settle();
    auto const fails_with = [&](errc code, std::size_t times) {
        server.fail_next(code, times);
        outcome result;
        client.lock("a").try_acquire(result.handler());
        server.settle();
        BOOST_TEST_REQUIRE(result.ended.has_value());
        BOOST_TEST((*result.ended == code), *result.ended << " and not " << make_error_code(code));
    };
    fails_with(errc::auth_failed, 1);
    fails_with(errc::corrupt_state, 1);
    fails_with(errc::unsupported_server, 1);
    // The second time without the rights that a hand-over needs.
    fails_with(errc::no_permission, 2);
    // These pass by themselves.
    for (auto const code : {errc::server_refused, errc::unreachable}) {
        server.fail_next(code, 2);
        outcome result;
        client.lock("a").acquire(result.handler());
        BOOST_TEST(server.advance_until([&] { return result.ended.has_value(); }, 1min));
        BOOST_TEST(result.granted());
    }
    BOOST_CHECK_THROW(server.fail_next(errc::lease_lost), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(a_grant_whose_answer_is_lost_is_asked_for_again, in_virtual_time) {
    server.settle();
    server.lose_next_replies();
    outcome result;
    client.lock("a").acquire(result.handler());
    server.settle();
    BOOST_TEST(!result.ended);
    BOOST_TEST(server.inspect("a").held);
    BOOST_TEST(server.advance_until([&] { return result.ended.has_value(); }, 1min));
    BOOST_TEST(result.granted());
}

BOOST_FIXTURE_TEST_CASE(what_it_holds_can_be_looked_at, in_virtual_time) {
    BOOST_TEST(server.keys().empty());
    BOOST_TEST(!server.inspect("a").held);
    auto held = take(client, "a");
    auto const found = server.inspect("a");
    BOOST_TEST(found.held);
    BOOST_TEST(found.holder.find(':') != std::string::npos);
    BOOST_TEST((found.remaining == 30'000ms));
    BOOST_TEST((found.last_token >= held.token()));
    BOOST_TEST(server.lock_keys() == std::vector<std::string>{"a"});
    auto const executed = server.executed_scripts();
    BOOST_TEST(executed > 0U);
    // An operator deletes it.
    BOOST_TEST(server.erase("a"));
    BOOST_TEST(!server.erase("a"));
    server.advance(15s);
    BOOST_TEST((held.loss() == loss_reason::deleted));
    BOOST_TEST(server.executed_scripts() > executed);
    BOOST_CHECK_THROW(static_cast<void>(server.inspect("")), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(anothers_lock_is_given_back, in_virtual_time) {
    server.hold_as_other("a", 1h);
    outcome waiter;
    client.lock("a").acquire(waiter.handler());
    server.advance(1min);
    BOOST_TEST(!waiter.ended);
    server.release_as_other("a");
    server.settle();
    BOOST_TEST(waiter.granted());
    // Whoever has it.
    server.hold_as_other("a", 10s);
    server.advance(15s);
    BOOST_TEST((waiter.got.loss() == loss_reason::taken));
}

BOOST_AUTO_TEST_CASE(a_client_outlives_its_server_and_its_context) {
    std::optional<asio::io_context> context{std::in_place};
    std::optional<memory_server> server{std::in_place, virtual_time};
    holdfast::client client{*context, *server};
    server->settle();
    outcome result;
    client.lock("a").acquire(result.handler());
    server->settle();
    BOOST_TEST_REQUIRE(result.granted());
    server.reset();
    context->poll();
    BOOST_TEST(result.got.valid());
    context.reset();
    memory_server{virtual_time}.advance(1min);
    BOOST_TEST(!result.got.valid());
}

// In a build with the optimiser. It takes a quarter of this.
#if defined(NDEBUG) && !defined(HOLDFAST_TEST_SANITIZER)
BOOST_FIXTURE_TEST_CASE(ten_thousand_pairs_take_less_than_a_second, in_virtual_time) {
    auto const pairs = [&]() -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        for (int i = 0; i < 10'000; ++i) {
            auto held = co_await lock.acquire();
            co_await held.release();
        }
    };
    auto const before = std::clock();  // of this process: others may have the machine
    auto result = asio::co_spawn(context, pairs(), asio::use_future);
    server.advance(1s);
    auto const took = std::clock() - before;
    BOOST_TEST((result.wait_for(0s) == std::future_status::ready));
    BOOST_TEST(took < CLOCKS_PER_SEC);
    BOOST_TEST(client.stats().grants == 10'000U);
}
#endif

BOOST_AUTO_TEST_CASE(settings_are_checked) {
    asio::io_context context;
    memory_server server;
    BOOST_CHECK_THROW(
        (holdfast::client{context, server, holdfast::config{.lease = 1ms}}),
        std::invalid_argument
    );
    holdfast::client client{context, server, holdfast::config{.key_prefix = "test:"}};
    outcome result;
    client.lock("a").acquire(result.handler());
    server.settle();
    BOOST_TEST(server.inspect("test:a").held);
}

BOOST_AUTO_TEST_SUITE_END()
