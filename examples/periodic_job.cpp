// A job that runs once in every period, though several processes are ready to do it. The lock alone
// would not do: it is free again when the run is over, and the next process would run the job once
// more. So whoever runs it keeps the lock until the period ends. The others wait; if one of them is
// granted the lock, because the holder is done or dead, it does the next run.
//
// The number of the period is taken from the clock after the grant. A process whose clock is
// behind, or that takes over from one that died, could still repeat a run. Where that must not be,
// keep the number of the last run in the store that the job writes to, beside the fencing token.
#include "main.hpp"

#include <boost/asio/system_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

using namespace std::chrono_literals;
using std::chrono::system_clock;

namespace {

constexpr auto length = 500ms;  // of a period
constexpr int processes = 3;
constexpr int runs_each = 2;  // then a process leaves, so that others take over

// What a run leaves behind, in a pipe to the process that started the others.
struct report {
    long long period;
    long long process;
};

asio::awaitable<void> run_jobs(holdfast::config config, int process, int reports) {
    auto executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, std::move(config)};
    auto lock = client.lock("periodic_job");
    asio::system_timer period_end{executor};
    for (int i = 0; i < runs_each; ++i) {
        auto lease = co_await lock.acquire();
        auto const period = system_clock::now().time_since_epoch() / length;

        report const done{period, process};  // the job itself
        expect(::write(reports, &done, sizeof done) > 0, "cannot write to the pipe");

        period_end.expires_at(system_clock::time_point{(period + 1) * length});
        co_await period_end.async_wait();
        co_await lease.release();
    }
}

// Returns whether no period had two runs. (On a machine that stalls one may go by without any.)
bool watch_runs(int reports) {
    bool once = true;
    long long first = 0;
    long long last = 0;
    int runs = 0;
    for (report done; ::read(reports, &done, sizeof done) > 0; ++runs) {
        if (runs == 0) {
            first = done.period;
        }
        fmt::print("period {}: process {}\n", done.period - first + 1, done.process);
        once = once && done.period > std::exchange(last, done.period);
    }
    return once && runs == processes * runs_each;
}

}  // namespace

int main(int argc, char** argv) try {
    auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
    int ends[2];
    expect(::pipe(ends) == 0, "cannot make a pipe");
    for (int process = 1; process <= processes; ++process) {
        if (::fork() == 0) {  // while there is no context and no thread yet
            ::close(ends[0]);
            run(run_jobs(std::move(config), process, ends[1]));
            return 0;
        }
    }
    ::close(ends[1]);
    bool succeeded = watch_runs(ends[0]);
    for (int status = 0; ::wait(&status) > 0;) {
        succeeded = succeeded && status == 0;
    }
    expect(succeeded, "a run was done twice, or not all of them were");
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
