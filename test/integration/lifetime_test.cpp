// Leases, locks, clients and contexts that end in the wrong order, stand still, or are misused.

#include "support/child_process.hpp"
#include "support/fake_port.hpp"
#include "support/free_port.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::test::child_process;
using holdfast::test::co_eventually;
using holdfast::test::eventually;
using holdfast::test::fake_server;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;
using holdfast::test::sleep_for;
using steady_clock = std::chrono::steady_clock;

namespace {

constexpr auto awaited = asio::use_awaitable;
constexpr auto as_code = asio::as_tuple(asio::use_awaitable);

// No timer of the library helps a test along.
holdfast::config patient_config() {
    holdfast::config settings;
    settings.lease = 1h;
    settings.request_timeout = 60s;
    settings.fallback = 1h;
    return settings;
}

holdfast::config short_config() {
    holdfast::config settings;
    settings.lease = 1s;
    return settings;
}

// One server in memory and a coroutine with a client of it.
using fake_body = std::function<asio::awaitable<void>(fake_server&, holdfast::client&)>;

void with_fake_client(fake_body const& body, holdfast::config settings = patient_config()) {
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto const server = fake_server::make();
        auto client = server->make_client(executor, settings);
        co_await body(*server, client);
    });
}

// Keys other than token counters on a real server.
std::vector<std::string> lock_keys(redis_server const& server) {
    auto keys = server.probe().keys();
    std::erase_if(keys, [](std::string const& key) {
        return key.starts_with("redisson_lock_token:");
    });
    return keys;
}

// test/programs/holder.cpp as another process.
class holder_process {
public:
    explicit holder_process(redis_server const& server)
        : child_{{HOLDFAST_TEST_HOLDER, server.url()}} {}

    // The next line that the child says.
    std::string says() {
        if (auto const line = child_.read_line(20s)) {
            return *line;
        }
        throw std::runtime_error{"the child has ended"};
    }

    child_process& process() { return child_; }

private:
    child_process child_;
};

template <class Awaitable>
asio::awaitable<error_code> code_of(Awaitable operation) {
    auto [ec] = co_await std::move(operation)(as_code);
    co_return ec;
}

}  // namespace

// 85

BOOST_AUTO_TEST_CASE(fault_85_a_lease_destroyed_without_release_frees_the_lock) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        std::optional<holdfast::lease> lease{co_await lock.acquire(awaited)};
        holdfast::lease next;
        lock.acquire([&](error_code, holdfast::lease granted) { next = std::move(granted); });
        co_await sleep_for(20ms);
        BOOST_TEST(!next);
        lease.reset();
        BOOST_TEST(co_await co_eventually(5s, [&] { return next.valid(); }));
        next = {};
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
        BOOST_TEST(client.stats().leases_now == 0U);
    });
}

BOOST_AUTO_TEST_CASE(fault_85_the_release_of_a_dropped_lease_survives_a_broken_connection) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto lease = co_await client.lock("a").acquire(awaited);
        server.set_up(false);
        co_await sleep_for(10ms);
        lease = {};
        co_await sleep_for(50ms);
        BOOST_TEST(server.exists("a"));
        server.set_up(true);
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
    });
}

// 86

BOOST_AUTO_TEST_CASE(fault_86_the_lock_is_destroyed_with_an_acquire_pending) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        server.lock_as_other("a", 1h);
        std::optional<holdfast::lock> lock{client.lock("a")};
        holdfast::lease lease;
        error_code ec = errc::not_held;
        lock->acquire([&](error_code e, holdfast::lease granted) {
            ec = e;
            lease = std::move(granted);
        });
        auto deferred = lock->try_acquire(asio::deferred);
        lock.reset();
        co_await sleep_for(20ms);
        server.unlock_as_other("a");
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.valid(); }));
        BOOST_TEST(!ec);
        auto const busy = co_await std::move(deferred)(awaited);
        BOOST_TEST(!busy);
        co_await lease.release(awaited);
    });
}

// 87

BOOST_AUTO_TEST_CASE(fault_87_the_client_is_destroyed_with_leases_alive) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto const server = fake_server::make();
        std::optional<holdfast::client> client{server->make_client(executor, patient_config())};
        auto const lock = client->lock("a");
        auto lease = co_await lock.acquire(awaited);
        auto other = co_await client->lock("b").acquire(awaited);
        std::optional<loss_reason> told;
        lease.wait_lost([&](error_code, loss_reason reason) { told = reason; });
        std::optional<error_code> waiter;
        lock.acquire([&](error_code ec, holdfast::lease) { waiter = ec; });
        co_await sleep_for(20ms);

        client.reset();
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return told.has_value() && waiter.has_value();
        }));
        BOOST_TEST((told == loss_reason::client_stopped));
        BOOST_TEST((waiter == errc::client_stopped));
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.state() == lease_state::lost));
        BOOST_TEST((lease.loss() == loss_reason::client_stopped));
        BOOST_TEST(co_await co_eventually(5s, [&] { return server->lock_keys().empty(); }));
        BOOST_TEST((co_await code_of(lease.release(asio::deferred)) == errc::lease_lost));
        auto [ec, late] = co_await lock.acquire(as_code);
        BOOST_TEST((ec == errc::client_stopped));
        // `other` is destroyed last of all.
    });
}

BOOST_AUTO_TEST_CASE(fault_87_the_client_is_destroyed_at_every_step_of_an_acquisition) {
    // The client goes after so many turns of its context, on a real server.
    redis_server server;
    for (int turns = 0; turns < 60; ++turns) {
        asio::io_context context;
        auto client = std::make_optional<holdfast::client>(context, server.url());
        std::optional<error_code> ended;
        holdfast::lease lease;
        client->lock("a").acquire([&](error_code ec, holdfast::lease granted) {
            ended = ec;
            lease = std::move(granted);
        });
        for (int i = 0; i < turns; ++i) {
            context.run_one_for(2ms);
        }
        client.reset();
        context.run_for(10s);
        BOOST_TEST(context.stopped(), turns);
        BOOST_TEST_REQUIRE(ended.has_value());
        BOOST_TEST((!*ended || *ended == errc::client_stopped), turns << ": " << ended->message());
        BOOST_TEST(lock_keys(server).empty(), turns);
    }
}

// 88

BOOST_AUTO_TEST_CASE(fault_88_the_context_is_stopped_and_run_again) {
    redis_server server;
    asio::io_context context;
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1s;
    auto client = std::make_optional<holdfast::client>(context, settings);
    holdfast::lease lease;
    client->lock("a").acquire([&](error_code, holdfast::lease granted) {
        lease = std::move(granted);
        context.stop();
    });
    context.run();
    BOOST_TEST(lease.valid());
    std::optional<loss_reason> told;
    lease.wait_lost([&](error_code, loss_reason reason) { told = reason; });

    std::this_thread::sleep_for(1'200ms);
    BOOST_TEST(!lease.valid());  // judged by the clock, nothing has run
    BOOST_TEST(!server.probe().exists("a"));
    context.restart();
    context.run_for(200ms);
    BOOST_TEST(told.has_value());
    BOOST_TEST(!lease.valid());

    // The client goes on as if nothing had been.
    holdfast::lease next;
    client->lock("a").acquire([&](error_code, holdfast::lease granted) {
        next = std::move(granted);
        context.stop();
    });
    context.restart();
    context.run_for(10s);
    BOOST_TEST(next.valid());
    next = {};
    lease = {};
    client.reset();
    context.restart();
    context.run_for(10s);
    BOOST_TEST(context.stopped());
    BOOST_TEST(lock_keys(server).empty());
}

BOOST_AUTO_TEST_CASE(fault_88_a_short_stop_costs_nothing) {
    auto const server = fake_server::make();
    asio::io_context context;
    auto client = std::make_optional(server->make_client(context.get_executor(), patient_config()));
    holdfast::lease lease;
    client->lock("a").acquire([&](error_code, holdfast::lease granted) {
        lease = std::move(granted);
        context.stop();
    });
    context.run();
    context.restart();
    BOOST_TEST(lease.valid());
    lease.renew([&](error_code ec) {
        BOOST_TEST(!ec);
        context.stop();
    });
    context.run();
    context.restart();
    lease = {};
    client.reset();
    context.run_for(10s);
    BOOST_TEST(context.stopped());
    BOOST_TEST(server->lock_keys().empty());
}

// 89

namespace {

// Everything that can be pending on a client, and what may outlive a context.
struct survivors {
    std::optional<holdfast::client> client;
    std::optional<holdfast::lock> lock;
    holdfast::lease lease;
    std::vector<holdfast::lease> more;
};

void start_everything(survivors& s) {
    auto const ignore = [](auto&&...) {};
    s.lock->acquire(ignore);
    s.lock->acquire(ignore);
    s.lock->try_acquire(ignore);
    s.lock->try_acquire_for(1h, ignore);
    s.client->lock("free").acquire(ignore);
    s.lease.renew(ignore);
    s.lease.wait_lost(ignore);
    s.lock->inspect(ignore);
    s.lock->force_release(ignore);
    s.client->ready(ignore);
}

void look_at(survivors const& s) {
    (void)s.lease.valid();
    (void)s.lease.remaining();
    BOOST_TEST(s.lease.token().value > 0U);
    BOOST_TEST((s.lease.deadline() > holdfast::lease_clock::time_point::min()));
    (void)s.client->stats();
    BOOST_TEST(s.lock->name() == "a");
}

}  // namespace

BOOST_AUTO_TEST_CASE(fault_89_the_context_is_destroyed_while_held) {
    // After so many turns with everything pending, on a real server.
    redis_server server;
    for (int turns = 0; turns < 80; turns += 2) {
        survivors s;
        {
            asio::io_context context;
            s.client.emplace(context, server.url());
            s.lock.emplace(s.client->lock("a"));
            s.lock->force_release([&](error_code, bool) { context.stop(); });
            context.run();
            context.restart();
            s.lock->acquire([&](error_code, holdfast::lease granted) {
                s.lease = std::move(granted);
                context.stop();
            });
            context.run();
            context.restart();
            BOOST_TEST_REQUIRE(s.lease.valid());
            start_everything(s);
            if (turns % 6 == 0) {
                s.client->shutdown([](error_code) {});
            }
            for (int i = 0; i < turns; ++i) {
                context.run_one_for(2ms);
            }
        }
        look_at(s);
        // In both orders.
        if (turns % 4 == 0) {
            s.client.reset();
            s.lock.reset();
            s.lease = {};
        } else {
            s.lease = {};
            s.lock.reset();
            s.client.reset();
        }
    }
}

BOOST_AUTO_TEST_CASE(fault_89_the_context_is_destroyed_with_requests_in_flight) {
    for (int const state : {0, 1, 2, 3}) {
        auto const server = fake_server::make();
        survivors s;
        {
            asio::io_context context;
            s.client.emplace(server->make_client(context.get_executor(), patient_config()));
            s.lock.emplace(s.client->lock("a"));
            s.lock->acquire([&](error_code, holdfast::lease granted) {
                s.lease = std::move(granted);
                context.stop();
            });
            context.run();
            context.restart();
            server->hold_requests(state == 1);
            server->hold_replies(state == 2);
            server->hold_confirmations(true);
            server->set_up(state != 3);
            start_everything(s);
            s.more.push_back(std::move(s.lease));
            s.more.front().release([](error_code) {});
            context.run_for(20ms);
        }
        (void)s.more.front().valid();
        s.more.clear();
        s.lock.reset();
    }
}

BOOST_AUTO_TEST_CASE(fault_89_coroutines_that_own_everything_are_destroyed_with_the_context) {
    redis_server server;
    for (int turns = 0; turns < 60; turns += 2) {
        asio::io_context context;
        auto const main = [&]() -> asio::awaitable<void> {
            holdfast::client client{context, server.url()};
            auto const lock = client.lock("a");
            auto lease = co_await lock.acquire(awaited);
            auto body = [&](holdfast::lease& held) -> asio::awaitable<void> {
                co_await held.renew(awaited);
                co_await sleep_for(1h);
            };
            auto const other = client.lock("b");
            co_await holdfast::with_lease(other, body);
        };
        asio::co_spawn(context, main, asio::detached);
        for (int i = 0; i < turns; ++i) {
            context.run_one_for(2ms);
        }
        server.probe().flushall();
    }
}

BOOST_AUTO_TEST_CASE(fault_89_the_holders_context_is_destroyed_before_that_of_the_client) {
    redis_server server;
    for (bool const young : {true, false}) {
        asio::io_context clients;
        holdfast::client client{clients, server.url()};
        {
            asio::io_context holders;
            bool held = false;
            auto const hold = [&]() -> asio::awaitable<void> {
                auto lease = co_await client.lock("a").acquire(awaited);
                held = true;
                co_await sleep_for(1h);
            };
            asio::co_spawn(holders, hold, asio::detached);
            auto const until = holdfast::lease_clock::now() + 5s;
            while (!held && holdfast::lease_clock::now() < until) {
                clients.run_for(1ms);
                holders.run_for(1ms);
            }
            BOOST_TEST(held);
            if (!young) {
                clients.run_for(50ms);
                holders.run_for(50ms);
            }
        }
        auto const freed = [&] { return lock_keys(server).empty(); };
        for (int i = 0; i < 100 && !freed(); ++i) {
            clients.run_for(20ms);
        }
        BOOST_TEST(freed());
        BOOST_TEST(client.stats().leases_now == 0U);
    }
}

BOOST_AUTO_TEST_CASE(fault_89_the_end_of_one_client_is_the_end_of_another) {
    redis_server server;
    for (int i = 0; i < 20; ++i) {
        asio::io_context context;
        holdfast::client one{context, server.url()};
        std::optional<holdfast::client> other{std::in_place, context, server.url()};
        one.lock("a").acquire([lock = other->lock("b")](error_code, holdfast::lease) {});
        other.reset();
        context.run_for(std::chrono::milliseconds{i % 4});
    }
    server.probe().flushall();
}

// 90

BOOST_AUTO_TEST_CASE(fault_90_a_holder_that_blocks_its_strand_loses_its_lease_and_no_other) {
    redis_server server;
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1s;
    asio::thread_pool pool{3};
    {
        holdfast::client client{pool, settings};
        auto const blocked = asio::make_strand(pool);
        auto const granted = [&](auto executor, char const* name) {
            return asio::co_spawn(
                       executor,
                       [lock = client.lock(name)]() -> asio::awaitable<holdfast::lease> {
                           co_return co_await lock.acquire(awaited);
                       },
                       asio::use_future
            )
                .get();
        };
        auto lease = granted(blocked, "a");
        auto other = granted(asio::make_strand(pool), "b");
        auto lost = lease.wait_lost(asio::use_future);
        std::promise<bool> first_look;
        asio::post(blocked, [&] {
            std::this_thread::sleep_for(2s);
            first_look.set_value(lease.valid());
        });
        BOOST_TEST(first_look.get_future().get() == false);
        BOOST_TEST((lost.wait_for(2s) == std::future_status::ready));
        BOOST_TEST((lost.get() == loss_reason::expired));
        BOOST_TEST(other.valid());
        // The lock is free for others.
        auto next = granted(asio::make_strand(pool), "a");
        BOOST_TEST(next.valid());
        BOOST_TEST(next.token().value > lease.token().value);
        auto released = lease.release(asio::as_tuple(asio::use_future));
        BOOST_TEST((std::get<0>(released.get()) == errc::lease_lost));
        BOOST_TEST(next.valid());
    }
    pool.join();
    BOOST_TEST(lock_keys(server).empty());
}

// 91

BOOST_AUTO_TEST_CASE(fault_91_a_blocked_connection_strand_does_not_keep_holders_from_being_told) {
    redis_server server;
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1s;
    // One thread is stuck in the client's strand, another one runs everything else.
    asio::thread_pool pool{2};
    {
        holdfast::client client{pool, settings};
        auto lease = client.lock("a")
                         .acquire(asio::bind_executor(asio::make_strand(pool), asio::use_future))
                         .get();
        std::promise<void> stuck;
        asio::post(holdfast::client_access::state(client)->strand(), [&] {
            stuck.set_value();
            std::this_thread::sleep_for(2s);
        });
        stuck.get_future().wait();
        auto lost = lease.wait_lost(asio::use_future);
        BOOST_TEST((lost.wait_for(1'900ms) == std::future_status::ready));
        BOOST_TEST((lost.get() == loss_reason::unreachable));
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.remaining() > 0ms));  // told before the deadline
    }
    pool.join();
    BOOST_TEST(lock_keys(server).empty());
}

BOOST_AUTO_TEST_CASE(
    fault_91_a_blocked_client_context_does_not_keep_holders_of_another_from_being_told
) {
    auto const server = fake_server::make();
    asio::thread_pool clients{1};
    asio::thread_pool holders{1};
    {
        auto client = server->make_client(clients.get_executor(), short_config());
        auto lease = client.lock("a").acquire(asio::bind_executor(holders, asio::use_future)).get();
        std::promise<void> stuck;
        asio::post(clients, [&] {
            stuck.set_value();
            std::this_thread::sleep_for(2s);
        });
        stuck.get_future().wait();
        std::promise<loss_reason> told;
        lease.wait_lost(asio::bind_executor(holders, [&](error_code, loss_reason reason) {
            told.set_value(reason);
        }));
        auto lost = told.get_future();
        BOOST_TEST((lost.wait_for(1'500ms) == std::future_status::ready));
        BOOST_TEST(!lease.valid());
        lost.wait();
    }
    holders.join();
    clients.join();
}

// 92

BOOST_AUTO_TEST_CASE(fault_92_a_stopped_process_finds_its_lease_lost_at_the_first_look) {
    redis_server server;
    holder_process holder{server};
    auto const first = holder.says();
    BOOST_TEST(first.starts_with("token "));
    auto const old_token = std::stoull(first.substr(6));
    holder.process().pause();
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire(awaited);
        BOOST_TEST(
            lease.token().value > old_token
        );  // so a store refuses what the other one writes
        co_await sleep_for(800ms
        );  // longer than the child's idea of a pause, renewed just before or not
        holder.process().resume();
        BOOST_TEST(holder.says() == "invalid");
        BOOST_TEST(holder.says() == "lost");
        BOOST_TEST(holder.says() == "released: lease_lost");
        BOOST_TEST(server.probe().hgetall("a").size() == 1U);
        co_await lease.renew(awaited);  // not disturbed by that release
        BOOST_TEST(lease.valid());
        co_await lease.release(awaited);
    });
    BOOST_TEST(holder.process().wait() == 0);
}

// 96, and what else with_lease promises

BOOST_AUTO_TEST_CASE(fault_96_an_exception_in_the_critical_section_releases_the_lock) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto body = [&](holdfast::lease& lease) -> asio::awaitable<void> {
            BOOST_TEST(lease.valid());
            co_await sleep_for(1ms);
            throw std::domain_error{"no"};
        };
        std::string caught;
        try {
            co_await holdfast::with_lease(lock, body);
        } catch (std::domain_error const& e) {
            caught = e.what();
        }
        BOOST_TEST(caught == "no");
        BOOST_TEST(server.lock_keys().empty());  // at once: it was awaited
        auto thrower = [&](holdfast::lease&) -> asio::awaitable<int> {
            throw std::domain_error{"at once"};
        };
        try {
            co_await holdfast::with_lease(lock, thrower);
        } catch (std::domain_error const& e) {
            caught = e.what();
        }
        BOOST_TEST(caught == "at once");
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(fault_96_an_exception_past_a_lease_releases_the_lock) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        try {
            auto const lease = co_await client.lock("a").acquire(awaited);
            throw std::domain_error{"no"};
        } catch (std::domain_error const&) {
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
    });
}

BOOST_AUTO_TEST_CASE(with_lease_returns_what_the_body_returned) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto body = [&](holdfast::lease& lease) -> asio::awaitable<std::string> {
            BOOST_TEST(server.exists("a"));
            co_return lease.valid() ? "value" : "";
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, body) == "value");
        BOOST_TEST(!server.exists("a"));
        bool ran = false;
        auto nothing = [&](holdfast::lease&) -> asio::awaitable<void> {
            ran = true;
            co_return;
        };
        co_await holdfast::with_lease(lock, nothing);
        BOOST_TEST(ran);
        // A body that releases by itself is not cancelled for it.
        auto releases = [&](holdfast::lease& lease) -> asio::awaitable<int> {
            co_await lease.release(awaited);
            co_await sleep_for(10ms);
            co_return 7;
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, releases) == 7);
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(with_lease_cancels_the_body_when_the_lease_is_lost) {
    with_fake_client(
        [](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
            auto const lock = client.lock("a");
            bool cancelled = false;
            std::optional<lease_state> seen;
            auto body = [&](holdfast::lease& lease) -> asio::awaitable<int> {
                server.del("a");
                asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
                auto [ec] = co_await timer.async_wait(as_code);
                cancelled = ec == asio::error::operation_aborted;
                seen = lease.state();
                co_await asio::this_coro::throw_if_cancelled(false);
                co_return 1;
            };
            error_code ec;
            try {
                (void)co_await holdfast::with_lease(lock, body);
            } catch (boost::system::system_error const& e) {
                ec = e.code();
            }
            BOOST_TEST((ec == errc::lease_lost));
            BOOST_TEST(cancelled);
            BOOST_TEST((seen == lease_state::lost));
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(with_lease_releases_when_the_caller_is_cancelled) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const executor = co_await asio::this_coro::executor;
        for (auto const type :
             {asio::cancellation_type::terminal,
              asio::cancellation_type::partial,
              asio::cancellation_type::total}) {
            bool entered = false;
            auto body = [&](holdfast::lease&) -> asio::awaitable<void> {
                entered = true;
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
                co_await timer.async_wait(awaited);
            };
            auto caller = [&]() -> asio::awaitable<void> {
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                co_await holdfast::with_lease(lock, body);
            };
            asio::cancellation_signal signal;
            std::optional<error_code> ended;
            asio::co_spawn(
                executor,
                caller,
                asio::bind_cancellation_slot(
                    signal.slot(),
                    [&](std::exception_ptr thrown) {
                        try {
                            ended = error_code{};
                            if (thrown) {
                                std::rethrow_exception(thrown);
                            }
                        } catch (boost::system::system_error const& e) {
                            ended = e.code();
                        }
                    }
                )
            );
            BOOST_TEST(co_await co_eventually(5s, [&] { return entered; }));
            co_await sleep_for(5ms);
            signal.emit(type);
            BOOST_TEST(co_await co_eventually(5s, [&] { return ended.has_value(); }));
            BOOST_TEST((ended == asio::error::operation_aborted));
            BOOST_TEST(!server.exists("a"));

            // While it waits for the lock.
            server.lock_as_other("a", 1h);
            ended.reset();
            entered = false;
            asio::cancellation_signal again;
            asio::co_spawn(
                executor,
                caller,
                asio::bind_cancellation_slot(
                    again.slot(),
                    [&](std::exception_ptr thrown) {
                        ended = thrown ? error_code{asio::error::operation_aborted} : error_code{};
                    }
                )
            );
            co_await sleep_for(20ms);
            again.emit(type);
            BOOST_TEST(co_await co_eventually(5s, [&] { return ended.has_value(); }));
            BOOST_TEST((ended == asio::error::operation_aborted));
            BOOST_TEST(!entered);
            server.unlock_as_other("a");
        }
        auto const clean = [&] {
            return server.lock_keys().empty() && client.stats().waiters_now == 0;
        };
        BOOST_TEST(co_await co_eventually(5s, clean));
    });
}

// 98

BOOST_AUTO_TEST_CASE(fault_98_a_killed_holder_is_succeeded_within_its_lease_and_a_second) {
    redis_server server;
    holder_process holder{server};
    auto const old_token = std::stoull(holder.says().substr(6));
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.fallback = 1h;
        holdfast::client client{executor, settings};
        std::optional<holdfast::lease> successor;
        client.lock("a").acquire([&](error_code, holdfast::lease granted) {
            successor = std::move(granted);
        });
        co_await sleep_for(1'500ms);  // longer than its lease: it is renewed
        BOOST_TEST(!successor.has_value());
        BOOST_TEST(holder.process().kill() == -SIGKILL);
        auto const killed = steady_clock::now();
        BOOST_TEST(co_await co_eventually(10s, [&] { return successor.has_value(); }));
        BOOST_TEST((steady_clock::now() - killed <= 2s));
        BOOST_TEST(successor->valid());
        BOOST_TEST(successor->token().value > old_token);
    });
}

// 99

BOOST_AUTO_TEST_CASE(fault_99_a_lease_is_looked_at_from_two_threads) {
    auto const server = fake_server::make();
    asio::thread_pool pool{2};
    {
        auto client = server->make_client(pool.get_executor(), short_config());
        auto lease = client.lock("a").acquire(asio::use_future).get();
        auto const token = lease.token();
        std::atomic<bool> stop{false};
        std::atomic<int> wrong{0};
        auto const look = [&] {
            while (!stop) {
                wrong += lease.token() != token;
                wrong += lease.remaining() > 1s;
                wrong += lease.valid() && lease.state() == lease_state::lost;
                (void)lease.loss();
                (void)lease.deadline();
                (void)static_cast<bool>(lease);
            }
        };
        std::thread first{look};
        std::thread second{look};
        for (int i = 0; i < 200; ++i) {
            lease.renew(asio::use_future).get();
        }
        server->set_up(false);
        std::this_thread::sleep_for(10ms);
        server->set_up(true);
        lease.renew(asio::as_tuple(asio::use_future)).get();
        lease.release(asio::as_tuple(asio::use_future)).get();
        stop = true;
        first.join();
        second.join();
        BOOST_TEST(wrong == 0);
        BOOST_TEST(!lease);
        BOOST_TEST((lease.token() == token));
    }
    pool.join();
    BOOST_TEST(server->lock_keys().empty());
}

// 100

BOOST_AUTO_TEST_CASE(fault_100_the_same_task_acquires_again_and_waits) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto lease = co_await lock.acquire(awaited);
        auto [ec, second] = co_await lock.acquire(asio::cancel_after(100ms, as_code));
        BOOST_TEST((ec == asio::error::operation_aborted));
        BOOST_TEST(!second);
        auto const busy = co_await lock.try_acquire(awaited);
        BOOST_TEST(!busy);
        auto const late = co_await lock.try_acquire_for(50ms, awaited);
        BOOST_TEST(!late);
        BOOST_TEST(lease.valid());
        co_await lease.release(awaited);
        auto again = co_await lock.acquire(awaited);
        BOOST_TEST(again.valid());
        co_await again.release(awaited);
        BOOST_TEST(server.lock_keys().empty());
    });
}

// 102

BOOST_AUTO_TEST_CASE(fault_102_released_twice_or_after_a_move) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto lease = co_await client.lock("a").acquire(awaited);
        auto moved = std::move(lease);
        // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
        BOOST_TEST((co_await code_of(lease.release(asio::deferred)) == errc::not_held));
        BOOST_TEST((co_await code_of(lease.renew(asio::deferred)) == errc::not_held));
        auto [ec, reason] = co_await lease.wait_lost(as_code);
        BOOST_TEST((ec == errc::not_held));
        BOOST_TEST((reason == loss_reason::none));
        BOOST_TEST((lease.state() == lease_state::empty));
        BOOST_TEST(lease.token().value == 0U);
        BOOST_TEST((lease.remaining() == 0ms));
        // NOLINTEND(bugprone-use-after-move)
        BOOST_TEST(moved.valid());

        // Two releases of one lease, made before either starts.
        auto first = moved.release(asio::deferred);
        auto second = moved.release(asio::deferred);
        BOOST_TEST(!(co_await code_of(std::move(first))));
        BOOST_TEST((co_await code_of(std::move(second)) == errc::not_held));
        BOOST_TEST((co_await code_of(moved.release(asio::deferred)) == errc::not_held));
        BOOST_TEST((co_await code_of(moved.renew(asio::deferred)) == errc::not_held));
        BOOST_TEST(!moved);
        BOOST_TEST(server.executed("release") == 1U);
        BOOST_TEST(server.executed("renew") == 0U);

        // Two at the same time.
        auto lock = client.lock("b");
        auto other = co_await lock.acquire(awaited);
        std::vector<error_code> codes;
        other.release([&](error_code e) { codes.push_back(e); });
        other.release([&](error_code e) { codes.push_back(e); });
        BOOST_TEST(co_await co_eventually(5s, [&] { return codes.size() == 2; }));
        BOOST_TEST(
            ((!codes.at(0) && codes.at(1) == errc::not_held) ||
             (!codes.at(1) && codes.at(0) == errc::not_held))
        );
        BOOST_TEST(server.executed("release") == 2U);
    });
}

BOOST_AUTO_TEST_CASE(fault_102_a_lease_that_is_overwritten_is_released) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto lease = co_await client.lock("a").acquire(awaited);
        lease = co_await client.lock("b").acquire(awaited);
        BOOST_TEST(lease.valid());
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return server.lock_keys() == std::vector<std::string>{"b"};
        }));
    });
}

// 103

BOOST_AUTO_TEST_CASE(fault_103_after_shutdown_every_operation_says_so) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto const lock = client.lock("a");
        auto lease = co_await lock.acquire(awaited);
        std::optional<error_code> waiter;
        lock.acquire([&](error_code ec, holdfast::lease) { waiter = ec; });
        std::optional<error_code> second;
        client.shutdown([&](error_code ec) { second = ec; });
        co_await client.shutdown(awaited);
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return waiter.has_value() && second.has_value();
        }));
        BOOST_TEST((waiter == errc::client_stopped));
        BOOST_TEST(!*second);
        BOOST_TEST((lease.loss() == loss_reason::client_stopped));
        BOOST_TEST(lock_keys(server).empty());

        auto [ec1, none1] = co_await lock.acquire(as_code);
        BOOST_TEST((ec1 == errc::client_stopped));
        auto [ec2, none2] = co_await lock.try_acquire(as_code);
        BOOST_TEST((ec2 == errc::client_stopped));
        auto [ec3, none3] = co_await lock.try_acquire_for(1s, as_code);
        BOOST_TEST((ec3 == errc::client_stopped));
        auto [ec4, info] = co_await lock.inspect(as_code);
        BOOST_TEST((ec4 == errc::client_stopped));
        auto [ec5, freed] = co_await lock.force_release(as_code);
        BOOST_TEST((ec5 == errc::client_stopped));
        BOOST_TEST((co_await code_of(client.ready(asio::deferred)) == errc::client_stopped));
        BOOST_TEST((co_await code_of(lease.renew(asio::deferred)) == errc::lease_lost));
        BOOST_TEST((co_await code_of(lease.release(asio::deferred)) == errc::lease_lost));
        BOOST_TEST(!(co_await code_of(client.shutdown(asio::deferred))));
        BOOST_TEST(client.stats().waiters_now == 0U);
        BOOST_TEST(client.stats().subscriptions_now == 0U);
        BOOST_TEST(client.stats().leases_now == 0U);
        BOOST_TEST(server.probe().pubsub_channels().empty());
    });
}

// 104

namespace {

std::size_t resident_kilobytes() {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) {
            return std::stoul(line.substr(6));
        }
    }
    return 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(fault_104_100000_local_waiters_and_no_more) {
    auto settings = patient_config();
    BOOST_TEST(settings.max_waiters == 100'000U);
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            auto const server = fake_server::make();
            auto client = server->make_client(executor, settings);
            auto const lock = client.lock("a");
            auto lease = co_await lock.acquire(awaited);
            std::size_t refused = 0;
            std::size_t stopped = 0;
            std::size_t other = 0;
            auto const before = resident_kilobytes();
            constexpr std::size_t more = 1'000;
            for (std::size_t i = 0; i < settings.max_waiters + more; ++i) {
                lock.acquire([&](error_code ec, holdfast::lease) {
                    refused += ec == errc::too_many_waiters;
                    stopped += ec == errc::client_stopped;
                    other += !ec;
                });
            }
            BOOST_TEST(co_await co_eventually(60s, [&] { return refused == more; }));
            BOOST_TEST(client.stats().waiters_now == settings.max_waiters);
            auto const used = resident_kilobytes() - before;
            BOOST_TEST_MESSAGE(used << " KiB for all waiters");
#ifndef HOLDFAST_TEST_SANITIZER                           // it needs memory of its own
            BOOST_TEST(used < 2 * settings.max_waiters);  // 2 KiB each
#endif
            BOOST_TEST(holdfast::is_retryable(errc::too_many_waiters));
            // One subscription and two attempts serve them all; another key is not concerned.
            BOOST_TEST(server->subscriptions() == 1U);
            BOOST_TEST(server->arrived("acquire") <= 3U);
            auto elsewhere = co_await client.lock("b").acquire(awaited);
            BOOST_TEST(elsewhere.valid());
            co_await client.shutdown(awaited);
            BOOST_TEST(co_await co_eventually(60s, [&] { return stopped == settings.max_waiters; })
            );
            BOOST_TEST(refused == more);
            BOOST_TEST(other == 0U);
            BOOST_TEST(client.stats().waiters_now == 0U);
            BOOST_TEST(server->lock_keys().empty());
        },
        110s
    );
}

// Programs end by themselves

namespace {

// The README's: the client lives in the main coroutine. True if `run()` returned in time.
template <class Main>
bool ends_by_itself(Main main, std::chrono::milliseconds limit) {
    asio::io_context context;
    std::exception_ptr thrown;
    asio::co_spawn(context, main(context), [&](std::exception_ptr e) { thrown = e; });
    context.run_for(limit);
    if (thrown) {
        std::rethrow_exception(thrown);
    }
    return context.stopped();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_program_of_the_readme_ends_by_itself) {
    redis_server server;
    auto const main = [&](asio::io_context& context) -> asio::awaitable<void> {
        holdfast::client client{context, server.url()};
        auto lock = client.lock("stock:{}:{}", 7, "apple");
        auto lease = co_await lock.acquire();
        BOOST_TEST(lease.token().value > 0U);
        co_await lease.release();
    };
    auto const begin = steady_clock::now();
    BOOST_TEST(ends_by_itself(main, 10s));
    BOOST_TEST((steady_clock::now() - begin < 3s));
    auto const drops = [&](asio::io_context& context) -> asio::awaitable<void> {
        holdfast::client client{context, server.url()};
        auto const lease = co_await client.lock("a").acquire();
    };
    BOOST_TEST(ends_by_itself(drops, 10s));
    auto const does_nothing = [&](asio::io_context& context) -> asio::awaitable<void> {
        holdfast::client const client{context, server.url()};
        co_return;
    };
    BOOST_TEST(ends_by_itself(does_nothing, 10s));
    BOOST_TEST(lock_keys(server).empty());
}

BOOST_AUTO_TEST_CASE(the_program_of_the_readme_ends_by_itself_without_a_server) {
    auto const nobody = "redis://127.0.0.1:" + std::to_string(holdfast::test::free_tcp_port());
    for (auto const& url :
         {nobody, std::string{"unix:///nowhere/at/all"}, std::string{"redis://192.0.2.1:6379"}}) {
        auto const main = [&](asio::io_context& context) -> asio::awaitable<void> {
            holdfast::client client{context, url};
            auto [ec, lease] =
                co_await client.lock("a").acquire(asio::cancel_after(300ms, as_code));
            BOOST_TEST((ec == asio::error::operation_aborted), url);
        };
        auto const begin = steady_clock::now();
        BOOST_TEST(ends_by_itself(main, 10s), url);
        BOOST_TEST((steady_clock::now() - begin < 3s), url);
    }
}

BOOST_AUTO_TEST_CASE(shutdown_keeps_its_bound_when_the_server_does_not_answer) {
    redis_server server;
    auto const main = [&](asio::io_context& context) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.shutdown_timeout = 500ms;
        holdfast::client client{context, settings};
        auto const lease = co_await client.lock("a").acquire();
        server.pause();
        auto const begin = steady_clock::now();
        BOOST_TEST((co_await code_of(client.shutdown(asio::deferred)) == errc::release_unknown));
        BOOST_TEST((steady_clock::now() - begin < 2s));
    };
    BOOST_TEST(ends_by_itself(main, 10s));
    server.resume();
}
