// Many coroutines on strands of a context that four threads run: they acquire, release and cancel
// at random moments. Afterwards nothing is left but token counters.

#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::error_code;
using holdfast::test::co_eventually;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;

namespace {

constexpr int threads = 4;
constexpr int coroutines = 64;
constexpr int names = 24;

// HOLDFAST_STRESS_ACQUIRES asks for more than the normal run does.
int acquires_asked_for() {
    auto const* const asked = std::getenv("HOLDFAST_STRESS_ACQUIRES");
    return asked ? std::atoi(asked) : 100'000;
}

struct shared_state {
    std::array<std::atomic<int>, names> holders{};
    std::atomic<int> started{0};
    std::atomic<int> granted{0};
    std::atomic<int> aborted{0};
    std::atomic<int> empty{0};
    std::atomic<int> overlaps{0};
    std::atomic<int> ended{0};

    void surprise(std::string what) {
        std::lock_guard const guard{mutex_};
        ++surprises_[std::move(what)];
    }
    std::map<std::string, int> surprises() {
        std::lock_guard const guard{mutex_};
        return surprises_;
    }

private:
    std::mutex mutex_;
    std::map<std::string, int> surprises_;
};

// The moment and the type of a cancellation; the signal is emitted on the strand of the operation.
struct cancellation {
    asio::cancellation_signal signal;
    asio::steady_timer timer;
    asio::cancellation_type type;

    cancellation(asio::any_io_executor executor, std::minstd_rand& random)
        : timer{executor},
          type{std::array{
              asio::cancellation_type::terminal,
              asio::cancellation_type::partial,
              asio::cancellation_type::total,
              asio::cancellation_type::all
          }[random() % 4]} {
        timer.expires_after(std::chrono::microseconds{random() % 3'000});
    }
};

asio::awaitable<void> worker(
    holdfast::client& client,
    shared_state& shared,
    int limit,
    unsigned seed
) {
    auto const executor = co_await asio::this_coro::executor;  // a strand
    std::minstd_rand random{seed};
    while (shared.started.fetch_add(1) < limit) {
        auto const which = random() % names;
        auto const lock = client.lock("stress:{}", which);
        auto cancel = std::make_shared<cancellation>(executor, random);
        cancel->timer.async_wait([cancel](error_code ec) {
            if (!ec) {
                cancel->signal.emit(cancel->type);
            }
        });
        auto const token =
            asio::bind_cancellation_slot(cancel->signal.slot(), asio::as_tuple(asio::deferred));
        auto const kind = random() % 4;
        std::optional<std::tuple<error_code, holdfast::lease>> result;
        if (kind == 0) {
            auto operation = lock.try_acquire(token);
            result.emplace(co_await std::move(operation)(asio::use_awaitable));
        } else if (kind == 1) {
            auto operation = lock.try_acquire_for(2ms, token);
            result.emplace(co_await std::move(operation)(asio::use_awaitable));
        } else {
            auto operation = lock.acquire(token);
            result.emplace(co_await std::move(operation)(asio::use_awaitable));
        }
        cancel->timer.cancel();
        auto& [ec, lease] = *result;
        bool const no_answer_in_time = kind == 1 && ec == holdfast::errc::unreachable;
        if (no_answer_in_time) {
            ++shared.empty;
            continue;
        }
        if (ec == asio::error::operation_aborted) {
            ++shared.aborted;
            continue;
        }
        if (ec) {
            shared.surprise("acquire: " + ec.message());
            continue;
        }
        if (!lease) {
            ++shared.empty;
            continue;
        }
        ++shared.granted;
        shared.overlaps += shared.holders.at(which).fetch_add(1) != 0;
        if (random() % 4 == 0) {
            asio::steady_timer work{executor, std::chrono::microseconds{random() % 500}};
            co_await work.async_wait(asio::use_awaitable);
        }
        if (!lease.valid()) {
            shared.surprise("the lease is not valid");
        }
        --shared.holders.at(which);
        if (random() % 3 != 0) {
            auto release = lease.release(asio::as_tuple(asio::deferred));
            auto [released] = co_await std::move(release)(asio::use_awaitable);
            if (released) {
                shared.surprise("release: " + released.message());
            }
        }  // otherwise the destructor does it
    }
    ++shared.ended;
}

}  // namespace

BOOST_AUTO_TEST_CASE(cancelled_acquires_on_strands_of_four_threads_leave_nothing) {
    redis_server server;
    auto const limit = acquires_asked_for();
    shared_state shared;
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            holdfast::client client{executor, server.url()};
            co_await client.ready(asio::use_awaitable);
            for (unsigned i = 0; i < coroutines; ++i) {
                asio::co_spawn(
                    asio::make_strand(executor),
                    worker(client, shared, limit, i + 1),
                    asio::detached
                );
            }
            BOOST_TEST(co_await co_eventually(100s, [&] { return shared.ended == coroutines; }));
            auto probe = server.probe();
            auto const clean = [&] {
                auto const now = client.stats();
                return now.waiters_now == 0 && now.leases_now == 0 && now.subscriptions_now == 0 &&
                       probe.keys("stress:*").empty() && probe.pubsub_channels().empty();
            };
            BOOST_TEST(co_await co_eventually(10s, clean));
            auto const left = client.stats();
            BOOST_TEST(left.waiters_now == 0U);
            BOOST_TEST(left.leases_now == 0U);
            BOOST_TEST(left.subscriptions_now == 0U);
            BOOST_TEST_MESSAGE(
                left.attempts << " attempts, " << left.grants << " grants, " << left.releases
                              << " releases, " << left.withdrawals << " withdrawals, "
                              << left.renewals << " renewals, " << left.reconnects << " reconnects"
            );
            BOOST_TEST(probe.lock_keys().empty());
            BOOST_TEST_MESSAGE(
                shared.granted << " granted, " << shared.aborted << " aborted, " << shared.empty
                               << " found it busy"
            );
            BOOST_TEST(shared.granted + shared.aborted + shared.empty == limit);
            BOOST_TEST(shared.granted > 0);
            BOOST_TEST(shared.aborted > 0);
            BOOST_TEST(shared.overlaps == 0);
            for (auto const& [what, times] : shared.surprises()) {
                BOOST_ERROR(what << ", " << times << " times");
            }
        },
        115s,
        threads
    );
}
