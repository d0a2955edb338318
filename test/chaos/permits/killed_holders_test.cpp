// 200 coroutines in four processes share ten permits, processes are killed at any time, and the set
// of acquired permits is deleted now and then. The resource must never see more than ten valid
// permits, and all of them come back.

#include "permits/pool_record.hpp"
#include "support/child_process.hpp"
#include "support/one_server.hpp"
#include "support/scratch_file.hpp"

#include <cstdlib>
#include <deque>
#include <random>
#include <string>

using namespace holdfast::test;

namespace {

constexpr std::int64_t limit = 10;
constexpr std::size_t coroutines = 50;
constexpr std::size_t processes = 4;
constexpr std::chrono::milliseconds lease{1'000};

std::chrono::seconds duration() {
    auto const* const wanted = std::getenv("HOLDFAST_PERMITS");
    return wanted != nullptr && std::string{wanted} == "full" ? 60s : 5s;
}

class workers {
public:
    workers(std::string url, std::string record)
        : url_{std::move(url)},
          record_{std::move(record)} {
        for (std::size_t i = 0; i < processes; ++i) {
            running_.push_back(start());
        }
    }

    void kill_one(std::size_t which) {
        running_[which].kill();
        running_[which] = start();
    }
    // What they wait for they get, and give back.
    void stop() {
        for (auto& one : running_) {
            one.close_input();
        }
        for (auto& one : running_) {
            BOOST_TEST(one.wait(30s) == 0);
        }
    }

private:
    // Those of a process that was killed are valid for a while: another one has other numbers.
    child_process start() {
        auto const first = started_++ * coroutines % (pool_record::most_holders - coroutines);
        child_options options;
        options.standard_input = child_input::pipe;
        return child_process{
            {HOLDFAST_PERMIT_WORKER,
             url_,
             record_,
             std::to_string(first),
             std::to_string(coroutines)},
            options
        };
    }

    std::string url_;
    std::string record_;
    std::size_t started_ = 0;
    std::deque<child_process> running_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(there_are_never_more_permits_than_there_may_be_and_all_come_back) {
    auto const body = [](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto const pool = client.semaphore("pool").limit(limit);
        auto probe = server.probe();
        scratch_file const file{"permits"};
        pool_record const record{file.path()};
        auto const seed = std::random_device{}();
        BOOST_TEST_MESSAGE("seed " << seed);
        std::mt19937 dice{seed};
        workers all{server.url(), file.path()};
        auto last_kill = lease_clock::now();
        for (auto const end = last_kill + duration(); lease_clock::now() < end;) {
            co_await sleep_for(std::chrono::milliseconds{200 + dice() % 600});
            if (dice() % 4 == 0) {
                probe.del("{pool}:timeout");
            }
            all.kill_one(dice() % processes);
            last_kill = lease_clock::now();
        }
        all.stop();
        BOOST_TEST(record.most() <= limit);
        BOOST_TEST(record.most() > limit / 2);
        BOOST_TEST(record.entries() > 100);
        if (auto const left = last_kill + lease + 100ms - lease_clock::now(); left > 0ns) {
            co_await sleep_for(left);
        }
        auto everything = co_await pool.permits(limit).try_acquire_for(5s);
        BOOST_TEST(bool(everything));
        co_await everything.release();
        BOOST_TEST(co_await pool.available() == limit);
        BOOST_TEST(!co_await pool.try_set_permits(limit));
    };
    with_server(body, duration() + 60s);
}
