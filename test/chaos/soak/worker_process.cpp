#include "soak/worker_process.hpp"

#include "soak/settings.hpp"
#include "soak/worker.hpp"

#include <holdfast.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

namespace holdfast::soak {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto awaited = asio::use_awaitable;

// A gap between two beats that is longer than this is written down.
constexpr auto beat_interval = 5ms;
constexpr nanos longest_gap = 20ms;

// What is left of attempts and releases is settled by then: the server's part ends with the lease.
constexpr auto settling_limit = lease_time + 9s;

void say(std::string const& what) {
    fmt::print("{}\n", what);
    std::fflush(stdout);
}

void rethrow(std::exception_ptr const& failure) {
    if (failure) {
        std::rethrow_exception(failure);
    }
}

std::int64_t processor_time() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

config settings_for(worker_options const& options) {
    config settings;
    if (options.server.starts_with('/')) {
        settings.unix_socket = options.server;
        settings.username = user_name;
        settings.password = user_password;
    } else {
        settings = parse_url(options.server);
    }
    settings.client_name = name_of_worker(options.number);
    settings.key_prefix = key_prefix;
    settings.lease = lease_time;
    settings.loss_margin = notice_part;
    settings.log = nullptr;  // What it would report is done on purpose.
    settings.reconnect_max = 200ms;
    settings.hand_over = options.hands_over;
    return settings;
}

class worker_main {
public:
    explicit worker_main(worker_options const& options)
        : options_{options},
          history_{options.history},
          context_{options.threads},
          main_{asio::make_strand(context_)},
          all_home_{main_} {}

    void run() {
        asio::co_spawn(main_, obey(), rethrow);
        std::vector<std::jthread> helpers;
        for (int i = 1; i < options_.threads; ++i) {
            helpers.emplace_back([this] { context_.run(); });
        }
        context_.run();
    }

private:
    asio::awaitable<void> obey() {
        asio::signal_set orders{main_, SIGUSR1, SIGUSR2, SIGTERM};
        client locks{main_, settings_for(options_)};
        workplace place{locks, history_, options_.resource, options_.number, options_.threads == 1};
        co_await locks.ready();
        asio::steady_timer beat{main_};
        asio::co_spawn(main_, watch_the_clock(beat), rethrow);
        say("ready " + co_await client_id(locks));
        for (;;) {
            int const order = co_await orders.async_wait(awaited);
            if (order == SIGUSR1) {
                send_to_work(place);
                say("going");
            } else if (order == SIGUSR2) {
                place.closing = true;
                co_await everybody_home();
                co_await settle(locks);
                auto const now = locks.stats();
                say(fmt::format(
                    "drained {} {} {}",
                    now.waiters_now,
                    now.leases_now,
                    now.subscriptions_now
                ));
            } else {
                break;
            }
        }
        stopped_ = true;
        beat.cancel();
        co_await locks.shutdown();
    }

    // What the server knows the client by.
    asio::awaitable<std::string> client_id(client& locks) {
        auto const mine = locks.lock(fmt::format("hello-{}", options_.number));
        auto held = co_await mine.acquire();
        auto const seen = co_await mine.inspect();
        co_await held.release();
        co_return seen.holder.substr(0, seen.holder.rfind(':'));
    }

    void send_to_work(workplace& place) {
        ++round_;
        place.closing = false;
        for (int i = 0; i < options_.coroutines; ++i) {
            ++working_;
            std::seed_seq mixed{
                static_cast<std::uint64_t>(options_.number),
                static_cast<std::uint64_t>(i),
                static_cast<std::uint64_t>(round_),
                options_.seed
            };
            std::uint64_t seed = 0;
            mixed.generate(&seed, &seed + 1);
            auto const strand = asio::make_strand(context_);
            bool const patient = i < patient_coroutines;
            auto const one = std::make_shared<worker>(place, strand, patient, seed);
            asio::co_spawn(
                strand,
                one->run(),
                asio::bind_executor(
                    main_,
                    [this, one](std::exception_ptr const& failure) {
                        rethrow(failure);
                        --working_;
                        all_home_.cancel();
                    }
                )
            );
        }
    }

    asio::awaitable<void> everybody_home() {
        while (working_ > 0) {
            error_code ec;
            all_home_.expires_at(asio::steady_timer::time_point::max());
            co_await all_home_.async_wait(asio::redirect_error(awaited, ec));
        }
    }

    asio::awaitable<void> settle(client& locks) {
        auto const limit = lease_clock::now() + settling_limit;
        asio::steady_timer timer{main_};
        for (;;) {
            auto const levels = locks.stats();
            bool const settled =
                levels.waiters_now == 0 && levels.leases_now == 0 && levels.subscriptions_now == 0;
            if (settled || lease_clock::now() >= limit) {
                co_return;
            }
            timer.expires_after(5ms);
            co_await timer.async_wait(awaited);
        }
    }

    // A process that does not run cannot tell anybody anything: the checker has to know.
    asio::awaitable<void> watch_the_clock(asio::steady_timer& beat) {
        auto last = now();
        auto last_used = processor_time();
        while (!stopped_) {
            error_code ec;
            beat.expires_after(beat_interval);
            co_await beat.async_wait(asio::redirect_error(awaited, ec));
            auto const here = now();
            auto const used = processor_time();
            if (here - last > longest_gap.count()) {
                history_.add(
                    {.at = here,
                     .what = happening::stalled,
                     .process = options_.number,
                     .since = last,
                     .limit = (used - last_used) / options_.threads}
                );
            }
            last = here;
            last_used = used;
        }
    }

    worker_options options_;
    history_file history_;
    asio::io_context context_;
    asio::any_io_executor main_;
    asio::steady_timer all_home_;
    int working_ = 0;
    std::int64_t round_ = 0;
    bool stopped_ = false;
};

}  // namespace

void work(worker_options const& options) {
    worker_main{options}.run();
}

}  // namespace holdfast::soak
