// The overselling problem, for real: a flash sale by several server processes, without a
// distributed lock and with it.
#include "processes.hpp"
#include "result_table.hpp"
#include "sale.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace {

boost::asio::awaitable<int> demo(flash_sale::sale_options const& options, std::string const& url) {
    auto const without = co_await flash_sale::hold_sale(options, url, false);
    auto const with = co_await flash_sale::hold_sale(options, url, true);
    flash_sale::print_table(without, with);
    auto const fault = flash_sale::find_fault(without, with);
    if (!fault.empty()) {
        fmt::print("\nFAILED: {}\n", fault);
        co_return 1;
    }
    fmt::print("\nOK: without the lock {} too many were sold, with it none.\n", without.oversold());
    co_return 0;
}

// A signal that comes while it exists takes effect later.
class blocked_signals {
public:
    blocked_signals() {
        sigset_t wanted;
        ::sigemptyset(&wanted);
        for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
            ::sigaddset(&wanted, signal);
        }
        ::sigprocmask(SIG_BLOCK, &wanted, &before_);
    }
    ~blocked_signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    blocked_signals(blocked_signals const&) = delete;
    blocked_signals& operator=(blocked_signals const&) = delete;

private:
    sigset_t before_{};
};

int run(flash_sale::sale_options const& options) {
    // Until somebody listens to them.
    std::optional<blocked_signals> blocked{std::in_place};
    // Made first and destroyed last: whatever happens below, it is ended when we leave.
    flash_sale::private_redis const redis;
    auto const url = redis.url();
    int result = 1;

    boost::asio::io_context context{1};
    boost::asio::signal_set signals{context, SIGINT, SIGTERM, SIGHUP};
    blocked.reset();
    signals.async_wait([&](boost::system::error_code error, int signal) {
        if (!error) {
            fmt::print(stderr, "interrupted\n");
            result = 128 + signal;
            context.stop();
        }
    });
    std::exception_ptr failure;
    boost::asio::co_spawn(context, demo(options, url), [&](std::exception_ptr thrown, int code) {
        failure = thrown;
        result = thrown ? 1 : code;
        context.stop();
    });
    context.run();
    if (failure) {
        std::rethrow_exception(failure);
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"A flash sale: without a lock it sells too much, with it exactly what there is"};
    flash_sale::sale_options options;
    app.add_option("--items", options.items, "Items in stock")
        ->check(CLI::Range(20, 100'000))
        ->capture_default_str();
    app.add_option("--buyers", options.buyers, "Buyers at a time")
        ->check(CLI::Range(2, 1'000))
        ->capture_default_str();
    app.add_option("--servers", options.servers, "Server processes")
        ->check(CLI::Range(2, 32))
        ->capture_default_str();
    app.add_option(
           "--metrics",
           options.metrics_port,
           "Expose the locks' metrics at this port, and the next ones: one for each server"
    )
        ->check(CLI::Range(1, 65'000));
    app.add_option(
        "--locks",
        options.locks,
        "URL of Sentinels or of a cluster on this machine, for the locks alone: their primary is "
        "killed in the middle of the sale. ./dev demo --deployment sentinel, or cluster, starts "
        "them"
    );
    CLI11_PARSE(app, argc, argv);
    // A closed output becomes an error, so that everything is still ended in order.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(options);
    } catch (std::exception const& e) {
        fmt::print("FAILED: {}\n", e.what());
        return 1;
    }
}
