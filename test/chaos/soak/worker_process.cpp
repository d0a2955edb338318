#include "soak/worker_process.hpp"

#include "soak/account.hpp"
#include "soak/settings.hpp"
#include "soak/worker.hpp"

#include <holdfast.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
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
#include <deque>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
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

// A URL is one of them, whatever is in it.
std::vector<std::string> servers_in(std::string const& text) {
    if (!text.starts_with('/')) {
        return {text};
    }
    std::vector<std::string> found;
    std::istringstream in{text};
    for (std::string one; std::getline(in, one, ',');) {
        found.push_back(one);
    }
    return found;
}

config settings_for(worker_options const& options, std::string const& server) {
    config settings;
    if (server.starts_with('/')) {
        settings.unix_socket = server;
        settings.username = user_name;
        settings.password = user_password;
    } else {
        settings = parse_url(server);
    }
    settings.client_name = name_of_worker(options.number);
    settings.key_prefix = key_prefix;
    settings.lease = lease_time;
    settings.loss_margin = notice_part;
    settings.log = nullptr;  // What it would report is done on purpose.
    settings.reconnect_max = 200ms;
    settings.hand_over = options.hands_over;
    if (options.shared == workload::permits) {
        settings.waiter_patience = lease_time / 2;
    }
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
        std::deque<client> nodes;
        for (auto const& each : servers_in(options_.server)) {
            nodes.emplace_back(main_, settings_for(options_, each));
        }
        workplace place{nodes, history_, options_.resource, options_.number, options_.threads == 1};
        for (auto& each : nodes) {
            co_await each.ready();
        }
        asio::steady_timer beat{main_};
        asio::co_spawn(main_, watch_the_clock(beat), rethrow);
        say("ready " + co_await client_id(nodes.front()));
        for (;;) {
            int const order = co_await orders.async_wait(awaited);
            if (order == SIGUSR1) {
                send_to_work(place);
                say("going");
            } else if (order == SIGUSR2) {
                place.closing = true;
                co_await everybody_home();
                auto const left = co_await settle(nodes);
                say(fmt::format(
                    "drained {} {} {}",
                    left.waiters_now,
                    left.leases_now,
                    left.subscriptions_now
                ));
            } else {
                break;
            }
        }
        stopped_ = true;
        beat.cancel();
        for (auto& each : nodes) {
            co_await each.shutdown();
        }
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
            std::shared_ptr<worker> const one =
                make_worker(options_.shared, place, strand, i, seed);
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
        if (options_.shared == workload::leaders) {
            observing_ = true;
            asio::co_spawn(
                main_,
                observe_leaders(place),
                asio::bind_cancellation_slot(
                    end_of_watch_.slot(),
                    [this](std::exception_ptr const& failure) {
                        rethrow(failure);
                        observing_ = false;
                        all_home_.cancel();
                    }
                )
            );
        }
    }

    // Observers go last: they have to see each leader.
    asio::awaitable<void> everybody_home() {
        while (working_ > 0) {
            co_await somebody_home();
        }
        end_of_watch_.emit(asio::cancellation_type::terminal);
        while (observing_) {
            co_await somebody_home();
        }
    }

    asio::awaitable<void> somebody_home() {
        error_code ec;
        all_home_.expires_at(asio::steady_timer::time_point::max());
        co_await all_home_.async_wait(asio::redirect_error(awaited, ec));
    }

    static stats sum_of(std::deque<client> const& nodes) {
        stats sum;
        for (auto const& each : nodes) {
            auto const now = each.stats();
            sum.waiters_now += now.waiters_now;
            sum.leases_now += now.leases_now;
            sum.subscriptions_now += now.subscriptions_now;
        }
        return sum;
    }

    asio::awaitable<stats> settle(std::deque<client> const& nodes) {
        auto const limit = lease_clock::now() + settling_limit;
        asio::steady_timer timer{main_};
        for (;;) {
            auto const levels = sum_of(nodes);
            bool const settled =
                levels.waiters_now == 0 && levels.leases_now == 0 && levels.subscriptions_now == 0;
            if (settled || lease_clock::now() >= limit) {
                co_return levels;
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
    asio::cancellation_signal end_of_watch_;
    int working_ = 0;
    bool observing_ = false;
    std::int64_t round_ = 0;
    bool stopped_ = false;
};

}  // namespace

void work(worker_options const& options) {
    worker_main{options}.run();
}

}  // namespace holdfast::soak
