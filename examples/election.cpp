// One scheduler among five processes, killed in turn. Each process wants to lead; whoever does runs
// the jobs, and shows its term to what it writes to. When a leader is killed, another one leads as
// soon as its lease has ended. An observer reports who leads.
#include "main.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int schedulers = 5;

// A scheduler: its address is what it proclaims.
asio::awaitable<void> schedule(holdfast::config config, std::string address) {
    asio::steady_timer timer{co_await asio::this_coro::executor};
    holdfast::client client{co_await asio::this_coro::executor, config};
    auto const election = client.election("scheduler");
    for (;;) {
        auto leads = co_await election.campaign(address);
        fmt::print("{}: I lead, in term {}\n", address, leads.term().value);
        std::fflush(stdout);
        while (leads.valid()) {
            timer.expires_after(20ms);  // stands for a job, which is given the term
            co_await timer.async_wait(asio::use_awaitable);
        }
        // The lease was lost. Somebody else may lead by now.
    }
}

// Sees who leads, and kills it.
asio::awaitable<void> watch(holdfast::config config, std::vector<pid_t> processes) {
    holdfast::client client{co_await asio::this_coro::executor, config};
    auto observer = client.election("scheduler").observe();
    holdfast::fencing_token last;
    for (int killed = 0; killed < schedulers;) {
        auto const leader = co_await observer.next();
        if (!leader) {
            fmt::print("observer: nobody leads\n");
            continue;
        }
        fmt::print("observer: {} leads, in term {}\n", leader.value, leader.term.value);
        std::fflush(stdout);
        expect(leader.term > last, "a term did not grow");
        last = leader.term;
        auto const number = std::stoul(leader.value.substr(leader.value.find(':') + 1));
        kill(processes.at(number), SIGKILL);
        ++killed;
    }
    auto const end = co_await observer.next();
    expect(!end, "somebody leads whose process was killed");
    auto const election = client.election("scheduler");
    expect(!co_await election.leader(), "the server knows a leader whose process was killed");
    fmt::print("observer: nobody leads, for nobody is left\n");
}

}  // namespace

int main(int argc, char** argv) try {
    auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
    config.lease = 1s;
    std::vector<pid_t> processes;
    for (int number = 0; number < schedulers; ++number) {
        auto const pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);  // not longer than this program
            run(schedule(config, fmt::format("scheduler:{}", number)));
            return 0;
        }
        expect(pid > 0, "there can be no more processes");
        processes.push_back(pid);
    }
    run(watch(config, processes));
    while (wait(nullptr) > 0) {
    }
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
