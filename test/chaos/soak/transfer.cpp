#include "soak/transfer.hpp"

#include "soak/settings.hpp"
#include "soak/worker_handle.hpp"
#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::soak {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto awaited = asio::use_awaitable;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::int64_t opening_balance = 1'000;
constexpr char const* transfers = "transfers";
// Whoever waits longer waits for ever.
constexpr auto patience = 20s;

// Both balances, or neither, and none by one whose token is older than another that was seen.
constexpr char const* book =
    "for i = 1, 2 do "
    "if tonumber(redis.call('GET', KEYS[i + 2]) or '0') > tonumber(ARGV[i + 2]) then return 0 end "
    "end "
    "for i = 1, 2 do "
    "redis.call('SET', KEYS[i], ARGV[i]) redis.call('SET', KEYS[i + 2], ARGV[i + 2]) "
    "end "
    "return redis.call('INCR', KEYS[5])";

config settings_for(std::string const& server) {
    config settings;
    settings.unix_socket = server;
    settings.lease = lease_time;
    settings.log = nullptr;  // What it would report is done on purpose.
    settings.reconnect_max = 200ms;
    return settings;
}

std::string account(std::size_t number) {
    return "account:" + std::to_string(number);
}
std::string balance(std::size_t number) {
    return "balance:" + std::to_string(number);
}
std::string fence(std::size_t number) {
    return "fence:" + std::to_string(number);
}

asio::awaitable<void> pause_for(std::chrono::nanoseconds time) {
    asio::steady_timer timer{co_await asio::this_coro::executor, time};
    co_await timer.async_wait(awaited);
}

void rethrow(std::exception_ptr const& failure) {
    if (failure) {
        std::rethrow_exception(failure);
    }
}

// The bank is asked while the thread waits: it answers in microseconds.
class clerk {
public:
    clerk(client& locks, test::redis_probe& bank, std::size_t accounts, std::uint64_t seed)
        : locks_{locks},
          bank_{bank},
          accounts_{accounts},
          random_{seed} {}

    asio::awaitable<void> work(bool const& stop) {
        while (!stop) {
            auto const from = draw(accounts_);
            auto const to = (from + 1 + draw(accounts_ - 1)) % accounts_;
            multi_lock const both{locks_.lock(account(from)), locks_.lock(account(to))};
            auto lease = co_await both.acquire();
            auto const from_had = read(from);
            auto const to_had = read(to);
            co_await pause_for(std::chrono::microseconds{draw(2'000)});
            auto const amount = static_cast<std::int64_t>(draw(10));
            if (from_had >= amount && lease.valid()) {
                write(from, from_had - amount, to, to_had + amount, lease);
            }
            // A lease that was lost is a process that had no time.
            co_await lease.release(as_result);
        }
    }

private:
    std::size_t draw(std::size_t below) {
        return std::uniform_int_distribution<std::size_t>{0, below - 1}(random_);
    }
    std::int64_t read(std::size_t number) { return std::stoll(bank_.get(balance(number)).value()); }
    void write(
        std::size_t from,
        std::int64_t from_has,
        std::size_t to,
        std::int64_t to_has,
        multi_lease const& held
    ) {
        bank_.cmd(
            "EVAL",
            book,
            5,
            balance(from),
            balance(to),
            fence(from),
            fence(to),
            transfers,
            from_has,
            to_has,
            held.token(0).value,
            held.token(1).value
        );
    }

    client& locks_;
    test::redis_probe& bank_;
    std::size_t accounts_;
    std::mt19937_64 random_;
};

asio::awaitable<void> work_until_told(transfer_worker_options options) {
    auto const executor = co_await asio::this_coro::executor;
    asio::signal_set orders{executor, SIGTERM};
    client locks{executor, settings_for(options.server)};
    test::redis_probe bank{options.server};
    co_await locks.ready();
    bool stop = false;
    int working = options.coroutines;
    std::vector<std::unique_ptr<clerk>> clerks;
    for (int i = 0; i < options.coroutines; ++i) {
        clerks.push_back(std::make_unique<clerk>(
            locks,
            bank,
            static_cast<std::size_t>(options.accounts),
            options.seed * 1'000 + static_cast<std::uint64_t>(i)
        ));
        asio::co_spawn(
            executor,
            clerks.back()->work(stop),
            [&working](std::exception_ptr const& failure) {
                rethrow(failure);
                --working;
            }
        );
    }
    fmt::print("ready\n");
    std::fflush(stdout);
    co_await orders.async_wait(awaited);
    stop = true;
    while (working > 0) {
        co_await pause_for(1ms);
    }
    co_await locks.shutdown();
}

class auditor {
public:
    auditor(transfer_options const& options, test::redis_server& server)
        : options_{options},
          server_{server},
          bank_{server.probe()},
          random_{options.seed} {
        for (std::size_t i = 0; i < accounts(); ++i) {
            bank_.set(balance(i), std::to_string(opening_balance));
        }
        bank_.set(transfers, "0");
    }

    asio::awaitable<void> run() {
        auto const executor = co_await asio::this_coro::executor;
        client locks{executor, settings_for(server_.unix_socket())};
        for (int i = 0; i < options_.processes; ++i) {
            workers_.push_back(start_worker());
        }
        auto const end = std::chrono::steady_clock::now() + std::chrono::seconds{options_.seconds};
        while (std::chrono::steady_clock::now() < end) {
            co_await pause_for(std::chrono::milliseconds{100 + draw(500)});
            auto const before = done();
            co_await audit(locks);
            auto& victim = workers_[draw(workers_.size())];
            victim.kill(SIGKILL);
            ++kills_;
            victim = start_worker();
            co_await goes_on(before);
        }
        for (auto& one : workers_) {
            one.signal(SIGTERM);
        }
        for (auto& one : workers_) {
            if (auto const code = one.wait(patience); code != 0) {
                throw std::runtime_error{fmt::format("a worker ended with {}", code)};
            }
        }
        co_await audit(locks);
        co_await locks.shutdown();
        co_await pause_for(lease_time);
        look_for_what_is_left();
        fmt::print(
            "{} transfers by {} coroutines in {} processes, {} of which were killed; {} audits, "
            "the "
            "slowest {:.0f} ms: the sum is right, and nothing is left\n",
            done(),
            options_.coroutines * options_.processes,
            options_.processes,
            kills_,
            audits_,
            std::chrono::duration<double, std::milli>{slowest_}.count()
        );
    }

private:
    [[nodiscard]] std::size_t accounts() const {
        return static_cast<std::size_t>(options_.accounts);
    }
    std::size_t draw(std::size_t below) {
        return std::uniform_int_distribution<std::size_t>{0, below - 1}(random_);
    }
    std::int64_t done() { return std::stoll(bank_.get(transfers).value()); }

    test::child_process start_worker() {
        test::child_process made{
            {this_program(),
             "transfer-worker",
             "--server",
             server_.unix_socket(),
             "--coroutines",
             std::to_string(options_.coroutines),
             "--accounts",
             std::to_string(options_.accounts),
             "--seed",
             std::to_string(options_.seed + 1 + started_++)}
        };
        if (made.read_line(patience) != "ready") {
            throw std::runtime_error{"a worker does not start"};
        }
        return made;
    }

    // While all accounts are held, nobody moves anything.
    asio::awaitable<void> audit(client& locks) {
        std::vector<multi_lock::member> members;
        for (std::size_t i = 0; i < accounts(); ++i) {
            members.emplace_back(locks.lock(account(i)));
        }
        multi_lock const all{members};
        auto const start = std::chrono::steady_clock::now();
        auto lease = co_await all.acquire(asio::cancel_after(patience, awaited));
        slowest_ = std::max(slowest_, std::chrono::steady_clock::now() - start);
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < accounts(); ++i) {
            sum += std::stoll(bank_.get(balance(i)).value());
        }
        bool const held = lease.valid();
        co_await lease.release(as_result);
        if (held && sum != opening_balance * options_.accounts) {
            throw std::runtime_error{
                fmt::format("the sum is {}, not {}", sum, opening_balance * options_.accounts)
            };
        }
        ++audits_;
    }

    asio::awaitable<void> goes_on(std::int64_t before) {
        auto const end = std::chrono::steady_clock::now() + patience;
        while (done() <= before) {
            if (std::chrono::steady_clock::now() > end) {
                throw std::runtime_error{"nobody moves anything any more"};
            }
            co_await pause_for(5ms);
        }
    }

    void look_for_what_is_left() {
        for (auto const& key : bank_.lock_keys()) {
            if (!key.starts_with("balance:") && !key.starts_with("fence:") && key != transfers) {
                throw std::runtime_error{"this is left: " + key};
            }
        }
    }

    transfer_options options_;
    test::redis_server& server_;
    test::redis_probe bank_;
    std::mt19937_64 random_;
    std::vector<test::child_process> workers_;
    std::uint64_t started_ = 0;
    int kills_ = 0;
    int audits_ = 0;
    std::chrono::steady_clock::duration slowest_{0};
};

}  // namespace

void transfer_as_worker(transfer_worker_options const& options) {
    asio::io_context context{1};
    asio::co_spawn(context, work_until_told(options), rethrow);
    context.run();
}

void transfer(transfer_options const& options) {
    test::redis_server server;
    auditor all{options, server};
    asio::io_context context{1};
    asio::co_spawn(context, all.run(), rethrow);
    context.run();
}

}  // namespace holdfast::soak
