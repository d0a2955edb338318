// A process of ours that takes one lock over and over: what Contest.java is to Redisson.
//
// It takes the words of that contest as its arguments, after the server's port, and answers with
// the same lines; then with those of PauseWatch.java; then with `stats`.

#include "support/redis_probe.hpp"

#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using holdfast::test::redis_probe;
using namespace std::chrono_literals;

namespace {

std::int64_t now_ns() {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Notes when this process could not run.
class pause_watch {
public:
    pause_watch() : thread_{[this] { watch(); }} {}
    ~pause_watch() { report(); }
    pause_watch(pause_watch const&) = delete;
    pause_watch& operator=(pause_watch const&) = delete;

    void report() {
        if (thread_.joinable()) {
            stopped_ = true;
            thread_.join();
            for (auto const& [from, to] : pauses_) {
                std::printf(
                    "pause %lld %lld\n",
                    static_cast<long long>(from),
                    static_cast<long long>(to)
                );
            }
        }
    }

private:
    struct pause {
        std::int64_t from;
        std::int64_t to;
    };

    void watch() {
        constexpr std::int64_t noted_ns = 5'000'000;
        for (auto before = now_ns(); !stopped_;) {
            std::this_thread::sleep_for(1ms);
            auto const now = now_ns();
            if (now - before > noted_ns) {
                pauses_.push_back({before, now});
            }
            before = now;
        }
    }

    std::atomic<bool> stopped_ = false;
    std::vector<pause> pauses_;
    std::thread thread_;
};

struct settings {
    std::uint16_t port;
    std::string lock;
    std::string resource;
    int coroutines;
    std::int64_t end_ns;
    std::int64_t last_number;
    std::int64_t hold_us;
    std::int64_t pause_us;
    bool is_fair;
};

struct grant {
    int coroutine = 0;
    std::int64_t called = 0;
    std::int64_t granted = 0;
    std::int64_t releasing = 0;
    std::uint64_t token = 0;
    std::int64_t number = 0;
};

class contest {
public:
    explicit contest(settings chosen) : chosen_{std::move(chosen)}, resource_{chosen_.port} {}

    void run() {
        auto const url = "redis://127.0.0.1:" + std::to_string(chosen_.port);
        auto config = holdfast::parse_url(url);
        config.fence_ttl = holdfast::config::never;
        // Who waits is woken by a message, or not at all.
        config.fallback_poll_interval = 1h;
        holdfast::client client{context_.get_executor(), config};
        running_ = chosen_.coroutines;
        for (int i = 0; i < chosen_.coroutines; ++i) {
            asio::co_spawn(context_, contend_for(client, i), [&](std::exception_ptr failure) {
                if (failure) {
                    std::rethrow_exception(failure);
                }
                if (--running_ == 0) {
                    by_ = client.stats().hand_overs_by;
                    client.shutdown([](holdfast::error_code) {});
                }
            });
        }
        context_.run();
    }

    void report() const {
        for (auto const& one : grants_) {
            std::printf(
                "grant %d %lld %lld %lld %llu %lld\n",
                one.coroutine,
                static_cast<long long>(one.called),
                static_cast<long long>(one.granted),
                static_cast<long long>(one.releasing),
                static_cast<unsigned long long>(one.token),
                static_cast<long long>(one.number)
            );
        }
    }

    void report_stats() const {
        std::printf(
            "stats own_client %llu other_client %llu notification %llu expiry %llu\n",
            static_cast<unsigned long long>(by_.own_client),
            static_cast<unsigned long long>(by_.other_client),
            static_cast<unsigned long long>(by_.notification),
            static_cast<unsigned long long>(by_.expiry)
        );
    }

private:
    asio::awaitable<void> contend_for(holdfast::client& client, int number) {
        return chosen_.is_fair ? contend(client.fair_lock(chosen_.lock), number)
                               : contend(client.lock(chosen_.lock), number);
    }

    template <class Lock>
    asio::awaitable<void> contend(Lock lock, int number) {
        std::int64_t reached = 0;
        while (reached < chosen_.last_number && now_ns() < chosen_.end_ns) {
            grant one{.coroutine = number, .called = now_ns()};
            auto lease = co_await lock.acquire();
            one.granted = now_ns();
            one.token = lease.token().value;
            auto const read = resource_.get(chosen_.resource);
            one.number = read ? std::stoll(*read) : 0;
            co_await rest(chosen_.hold_us);
            reached = one.number + 1;
            resource_.set(chosen_.resource, std::to_string(reached));
            one.releasing = now_ns();
            co_await lease.release();
            grants_.push_back(one);
            co_await rest(chosen_.pause_us);
        }
    }

    asio::awaitable<void> rest(std::int64_t most_us) {
        if (most_us > 0) {
            std::uniform_int_distribution<std::int64_t> draw{0, most_us};
            asio::steady_timer timer{context_, std::chrono::microseconds{draw(random_)}};
            co_await timer.async_wait(asio::use_awaitable);
        }
    }

    settings chosen_;
    asio::io_context context_{1};
    redis_probe resource_;
    std::deque<grant> grants_;
    std::mt19937_64 random_{std::random_device{}()};
    holdfast::hand_over_counts by_{};
    int running_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 9 && argc != 10) {
        std::fprintf(
            stderr,
            "usage: %s PORT LOCK NUMBER COROUTINES MS LAST_NUMBER HOLD_US PAUSE_US [fair]\n",
            argv[0]
        );
        return 2;
    }
    contest one{{
        .port = static_cast<std::uint16_t>(std::stoi(argv[1])),
        .lock = argv[2],
        .resource = argv[3],
        .coroutines = std::stoi(argv[4]),
        .end_ns = now_ns() + std::stoll(argv[5]) * 1'000'000,
        .last_number = std::stoll(argv[6]),
        .hold_us = std::stoll(argv[7]),
        .pause_us = std::stoll(argv[8]),
        .is_fair = argc == 10,
    }};
    pause_watch pauses;
    one.run();
    one.report();
    pauses.report();
    one.report_stats();
}
