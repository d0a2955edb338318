// The worker for redis-plus-plus: a thread for each that wants a lock, and its RedMutex.
#include "worker.hpp"

#include <sw/redis++/patterns/redlock.h>
#include <sw/redis++/redis++.h>
#include <sw/redis++/version.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace holdfast::bench;
namespace redis = sw::redis;

// The library's default is one connection, which a thousand threads would wait for.
constexpr std::size_t connections = 64;

class worker {
public:
    worker(int port, std::chrono::milliseconds lease) {
        redis::ConnectionOptions to;
        to.host = "127.0.0.1";
        to.port = port;
        redis::ConnectionPoolOptions pool;
        pool.size = connections;
        server_ = std::make_shared<redis::Redis>(to, pool);
        server_->ping();
        options_.ttl = lease;
    }

    void run(std::string const& line) {
        std::istringstream words{line};
        std::string command;
        std::string name;
        words >> command >> name;
        if (command == "key") {
            say("ok " + name);
        } else if (command == "pairs") {
            pairs(name, next(words));
        } else if (command == "keys") {
            auto const workers = next(words);
            keys(name, workers, next(words));
        } else if (command == "acquire") {
            auto& mutex = held_[name] = make(name);
            lock(*mutex);
            answer(now_ns());
        } else if (command == "release") {
            auto const releasing = now_ns();
            held_.at(name)->unlock();
            held_.erase(name);
            answer(releasing);
        } else if (command == "contend") {
            auto const start = next(words);
            auto const duration = next(words);
            contend(name, start, duration * 1'000'000, next(words));
        } else if (command == "park") {
            auto const count = next(words);
            park(name, count, next(words));
        } else {
            throw std::runtime_error{"unknown command: " + line};
        }
    }

private:
    static std::int64_t next(std::istream& words) {
        std::int64_t number = 0;
        words >> number;
        return number;
    }

    // Without a watcher of all, each mutex would start a thread of its own.
    std::unique_ptr<redis::RedMutex> make(std::string const& name) {
        return std::make_unique<redis::RedMutex>(server_, name, nullptr, options_, watcher_);
    }

    // `lock()` sleeps for up to 5 ms before it tries for the first time.
    static void lock(redis::RedMutex& mutex) {
        if (!mutex.try_lock()) {
            mutex.lock();
        }
    }

    void pairs(std::string const& name, std::int64_t count) {
        auto const mutex = make(name);
        std::vector<std::int64_t> took;
        for (std::int64_t i = 0; i < count; ++i) {
            auto const start = now_ns();
            lock(*mutex);
            mutex->unlock();
            took.push_back(now_ns() - start);
        }
        answer(median(took));
    }

    void keys(std::string const& prefix, std::int64_t workers, std::int64_t count) {
        auto const start = now_ns();
        std::vector<std::thread> threads;
        for (std::int64_t i = 0; i < workers; ++i) {
            threads.emplace_back([this, count, name = prefix + ":" + std::to_string(i)] {
                auto const mutex = make(name);
                for (std::int64_t pair = 0; pair < count; ++pair) {
                    lock(*mutex);
                    mutex->unlock();
                }
            });
        }
        for (auto& thread : threads) {
            thread.join();
        }
        answer(now_ns() - start);
    }

    void contend(
        std::string const& name,
        std::int64_t start,
        std::int64_t duration,
        std::int64_t hold_us
    ) {
        auto const mutex = make(name);
        std::vector<turn> turns;
        std::this_thread::sleep_until(instant(start));
        while (now_ns() < start + duration) {
            turn t;
            t.called = now_ns();
            lock(*mutex);
            t.granted = now_ns();
            std::this_thread::sleep_for(std::chrono::microseconds{hold_us});
            t.releasing = now_ns();
            mutex->unlock();
            turns.push_back(t);
        }
        answer(turns);
    }

    void park(std::string const& prefix, std::int64_t keys, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            auto const name = prefix + ":" + std::to_string(i % keys);
            std::thread{[this, name] { make(name)->lock(); }}.detach();
        }
        answer(count);
    }

    std::shared_ptr<redis::Redis> server_;
    std::shared_ptr<redis::LockWatcher> watcher_ = std::make_shared<redis::LockWatcher>();
    redis::RedMutexOptions options_;
    std::map<std::string, std::unique_ptr<redis::RedMutex>> held_;
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::fputs("usage: redis_plus_plus PORT LEASE_MS\n", stderr);
        return 2;
    }
    worker w{std::atoi(argv[1]), std::chrono::milliseconds{std::atoll(argv[2])}};
    say("ready " + std::to_string(redis::VERSION_MAJOR) + "." +
        std::to_string(redis::VERSION_MINOR) + "." + std::to_string(redis::VERSION_PATCH));
    for (std::string line; std::getline(std::cin, line);) {
        w.run(line);
    }
} catch (std::exception const& e) {
    std::fprintf(stderr, "redis_plus_plus: %s\n", e.what());
    return 1;
}
