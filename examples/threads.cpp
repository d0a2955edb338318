// One client, used from four threads. Each job is spawned on a strand of its own, because that is
// where its lease is renewed: a job that is stuck blocks its strand, is not renewed any more, and
// loses its lease, as it should. Without strands the other threads would go on renewing for it.
#include "main.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int rounds = 50;

// Guarded by the lock "count", and by nothing else.
int count = 0;

asio::awaitable<void> counting_job(holdfast::lock lock) {
    for (int i = 0; i < rounds; ++i) {
        auto lease = co_await lock.acquire();
        ++count;
        co_await lease.release();
    }
}

asio::awaitable<void> stuck_job(holdfast::lock lock) {
    holdfast::acquire_options const short_lease{.lease = 1s};
    auto lease = co_await lock.acquire(short_lease);
    std::this_thread::sleep_for(1500ms);  // never do that; this stands for a thread that hangs
    expect(!lease.valid(), "a job that was stuck still has its lease");
    fmt::print("the job that was stuck has lost its lease\n");
}

}  // namespace

int main(int argc, char** argv) try {
    auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
    asio::thread_pool pool{4};
    holdfast::client client{pool, std::move(config)};

    std::vector<std::future<void>> jobs;
    auto spawn = [&](asio::awaitable<void> job) {
        jobs.push_back(asio::co_spawn(asio::make_strand(pool), std::move(job), asio::use_future));
    };
    spawn(stuck_job(client.lock("stuck")));
    for (int i = 0; i < 4; ++i) {
        spawn(counting_job(client.lock("count")));
    }
    for (auto& job : jobs) {
        job.get();
    }
    fmt::print("4 jobs counted to {}\n", count);
    expect(count == 4 * rounds, "the lock did not guard the count");

    client.shutdown(asio::use_future).get();
    pool.join();
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
