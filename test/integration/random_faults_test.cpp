// One fault after the other, while many take the same locks: whatever happens, nobody holds twice,
// and all is well when it is over.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/redirect_error.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>

using namespace holdfast::test;

namespace {

constexpr auto lease = 1s;
constexpr int lock_count = 2;
constexpr int workers_per_client = 4;

class storm {
public:
    explicit storm(unsigned seed) : random_{seed} {}

    asio::awaitable<void> run(asio::any_io_executor executor) {
        {
            std::array<holdfast::client, 2> clients{
                holdfast::client{executor, settings()},
                holdfast::client{executor, settings()}
            };
            for (auto& client : clients) {
                for (int worker = 0; worker < workers_per_client; ++worker) {
                    ++working_;
                    asio::co_spawn(executor, work(client), [this](std::exception_ptr failure) {
                        BOOST_TEST(!failure);
                        --working_;
                    });
                }
            }
            auto const end = lease_clock::now() + 8s;
            while (lease_clock::now() < end) {
                co_await disturb();
                co_await sleep_for(std::chrono::milliseconds{draw(150)});
            }
            // A delay may be in force that is longer than the requests' time-out.
            proxy_.set_mode(proxy_mode::forward());
            stop_ = true;
            // Each of them gets its lock once more: that is the proof that nobody was forgotten.
            BOOST_TEST(co_await co_eventually(10s, [&] { return working_ == 0; }));
            BOOST_TEST(grants_ > 50);
            for (auto& client : clients) {
                auto const quiet = [&client] {
                    auto const now = client.stats();
                    return now.waiters_now == 0 && now.leases_now == 0 &&
                           now.subscriptions_now == 0;
                };
                BOOST_TEST(co_await co_eventually(3s, quiet));
            }
            auto probe = server_.probe();
            auto const only_counters = [&probe] { return probe.lock_keys().empty(); };
            BOOST_TEST(co_await co_eventually(lease + 500ms, only_counters));
            for (auto& client : clients) {
                error_code ec;
                co_await client.shutdown(asio::redirect_error(asio::use_awaitable, ec));
                BOOST_TEST(!ec);
            }
        }
        // Those who failed to end do not outlive what they refer to.
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return working_ == 0; }));
    }

private:
    holdfast::config settings() const {
        auto made = short_leases(proxy_.url(), lease);
        made.reconnect_max = 200ms;
        return made;
    }

    unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

    asio::awaitable<void> work(holdfast::client& client) {
        bool last = false;
        while (!last) {
            last = stop_;
            auto const which = draw(lock_count);
            auto const lock = client.lock("lock-{}", which);
            bool const impatient = !last && draw(3) == 0;
            // GCC 12 crashes on a co_await inside a conditional expression.
            auto const patience = impatient ? std::chrono::milliseconds{1 + draw(200)} : 1h;
            auto acquire =
                lock.acquire(asio::cancel_after(patience, asio::as_tuple(asio::deferred)));
            auto [ec, held] = co_await std::move(acquire)(asio::use_awaitable);
            if (ec) {
                bool const cancelled = impatient && ec == asio::error::operation_aborted;
                BOOST_TEST(cancelled, ec.message());
                if (!cancelled) {
                    co_return;
                }
                continue;
            }
            ++grants_;
            check(which, held);
            holder_[which] = &held;
            co_await sleep_for(std::chrono::milliseconds{draw(draw(20) == 0 ? 1500 : 10)});
            if (holder_[which] == &held) {
                holder_[which] = nullptr;
            }
            error_code ignored;
            co_await held.release(asio::redirect_error(asio::use_awaitable, ignored));
        }
    }

    void check(unsigned which, holdfast::lease const& held) {
        auto const token = held.token().value;
        BOOST_TEST(token > newest_[which]);
        newest_[which] = std::max(newest_[which], token);
        bool const two = holder_[which] && holder_[which]->valid() && held.valid();
        BOOST_TEST(!two);
    }

    asio::awaitable<void> disturb() {
        std::chrono::milliseconds const a_while{draw(500)};
        switch (draw(12)) {
            case 0: proxy_.cut(cut_kind::rst); break;
            case 1: proxy_.cut(cut_kind::fin, connections_that_sent("SUBSCRIBE")); break;
            case 2: proxy_.cut(cut_kind::rst, connections_that_sent("TIME")); break;
            case 3:
                proxy_.set_mode(proxy_mode::stall());
                co_await sleep_for(a_while);
                proxy_.set_mode(proxy_mode::forward());
                break;
            case 4:
                proxy_.set_mode(direction::to_client, proxy_mode::drop());
                co_await sleep_for(a_while);
                proxy_.set_mode(proxy_mode::forward());
                proxy_.cut();
                break;
            case 5:
                proxy_.when_client_sends("redisson_lock_token", command_fault::lose_reply);
                break;
            case 6: proxy_.when_client_sends("redisson_lock_token", command_fault::lose); break;
            case 7:
                proxy_.when_client_sends(
                    "redisson_lock__channel",
                    command_fault::lose_reply_and_cut
                );
                break;
            case 8: proxy_.on_reply(1 + draw(5), stream_fault::reset); break;
            case 9:
                server_.pause();
                co_await sleep_for(a_while);
                server_.resume();
                break;
            case 10:
                proxy_.set_mode(proxy_mode::delay(std::chrono::milliseconds{draw(100)}));
                break;
            default: server_.probe().script_flush(); break;
        }
    }

    redis_server server_;
    tcp_proxy proxy_{server_.unix_socket()};
    std::mt19937 random_;
    bool stop_ = false;
    int working_ = 0;
    int grants_ = 0;
    std::array<std::uint64_t, lock_count> newest_{};
    std::array<holdfast::lease const*, lock_count> holder_{};
};

void run_storm(unsigned seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
        storm all{seed};
        run_with_deadline([&](asio::any_io_executor executor) { return all.run(executor); }, 60s);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(nobody_holds_twice_whatever_fails_1) {
    run_storm(1);
}

BOOST_AUTO_TEST_CASE(nobody_holds_twice_whatever_fails_2) {
    run_storm(2);
}
