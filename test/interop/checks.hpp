#ifndef HOLDFAST_TEST_INTEROP_CHECKS_HPP
#define HOLDFAST_TEST_INTEROP_CHECKS_HPP

#include "interop/actors.hpp"
#include "interop/java_peer.hpp"
#include "support/one_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Longer than any check: who gets the lock before was told.
inline constexpr milliseconds long_lease = 120s;

/// How soon what needs no time must have happened, on a machine that is busy.
inline constexpr milliseconds soon = 15s;

/// Something that runs beside the check, and what became of it.
template <class T>
struct outcome {
    bool done = false;
    std::exception_ptr failure;
    T value{};
    steady_clock::time_point at;
};

template <class T>
std::shared_ptr<outcome<T>> start(
    asio::any_io_executor const& on,
    asio::awaitable<T> what,
    std::function<void()> at_its_end = [] {}
) {
    auto result = std::make_shared<outcome<T>>();
    asio::co_spawn(on, std::move(what), [result, at_its_end](std::exception_ptr failure, T value) {
        result->failure = failure;
        result->value = std::move(value);
        result->at = steady_clock::now();
        result->done = true;
        at_its_end();
    });
    return result;
}

struct primitive;

/// What a check works with: a server, both sides, and who of them begins as the holder. Checks run
/// side by side; each has locks of its own.
struct situation {
    redis_server& server;
    client& ours;   // is woken by a message, or not soon
    client& usual;  // has the settings that clients begin with
    java_peer& java;
    asio::any_io_executor executor;
    std::string version;
    party holds;
    primitive const& kind;
    std::string key;
    redis_probe probe;
    std::vector<std::string> failures{};
    std::deque<std::unique_ptr<lock_actor>> actors{};
    std::size_t under_way = 0;

    /// Notes a failure unless it is so.
    bool expect(bool is_so, std::string_view what);

    /// Whether a token is greater than one before it; also if one of the two is of a lock of Java's
    /// that has none.
    bool grew(std::uint64_t before, std::uint64_t after) const;

    party waits() const { return holds == party::ours ? party::java : party::ours; }

    /// A new one each time. It lives as long as the situation, because a check that failed may
    /// leave it waiting.
    lock_actor& actor(party of, std::string const& name);
    lock_actor& holder() { return actor(holds, key); }
    lock_actor& waiter() { return actor(waits(), key); }

    /// The same with the client that has the usual settings, if it is one of ours.
    lock_actor& usual_actor(party of);

    /// Lets an actor do something beside the check.
    template <class T>
    std::shared_ptr<outcome<T>> start(asio::awaitable<T> what) {
        ++under_way;
        return test::start(executor, std::move(what), [this] { --under_way; });
    }

    /// Returns once somebody listens to the lock's messages, and had time to ask again.
    task until_parked(std::string const& name);
    task until_parked() { return until_parked(key); }

    /// Returns once so many wait for the fair lock, and all of them listen.
    task until_queued(std::size_t count);

    /// Whether it is granted before somebody loses patience.
    template <class T>
    asio::awaitable<bool> granted(std::shared_ptr<outcome<T>> waiting, milliseconds limit = soon) {
        auto const is_done = [&] { return waiting->done; };
        co_return co_await co_eventually(limit, is_done) && !waiting->failure;
    }
};

/// Which party may begin as the holder.
enum class begins { both, ours, java };

/// One fact about a primitive that both sides share.
struct check {
    std::string_view name;
    begins who = begins::both;
    task (*run)(situation& in);
};

/// A kind of object that both sides have.
struct primitive {
    std::string name;        // also the prefix of the peer's commands
    bool has_tokens = true;  // on both sides
    bool is_fair = false;
    std::string holder_word{};  // what our holder process is told, so that it takes this kind
    std::string channel = "redisson_lock__channel";
    // A holder's field, after its id.
    std::string field_end{};
    // 3.23.5 is content to release what is gone.
    bool content_if_gone = false;
    // How long a thread of Java's holds at most what other threads of Java's wait for.
    milliseconds java_lease = long_lease;
    /// Not of what gives no leases: its checks have actors of their own.
    std::function<std::unique_ptr<lock_actor>(client&, std::string const&)> ours;
    std::function<std::unique_ptr<lock_actor>(java_peer&, std::string const&)> java;
    std::function<asio::awaitable<lock_info>(client&, std::string const&)> inspect{};
    std::vector<check> checks;
};

/// A new primitive is a function here, a line in `all_primitives` and the peer's commands.
primitive lock_primitive();                // RFencedLock
primitive plain_lock_primitive();          // RLock
primitive fair_lock_primitive();           // RFairLock
primitive multi_lock_primitive();          // RedissonMultiLock of two RLocks
primitive latch_primitive();               // RCountDownLatch
primitive counting_semaphore_primitive();  // RSemaphore
primitive permits_primitive();             // RPermitExpirableSemaphore
// The sides of an RReadWriteLock; that of the readers has the checks of both together.
primitive write_lock_primitive();
primitive read_lock_primitive();

inline std::vector<primitive> all_primitives() {
    return {
        lock_primitive(),
        plain_lock_primitive(),
        fair_lock_primitive(),
        write_lock_primitive(),
        read_lock_primitive(),
        multi_lock_primitive(),
        latch_primitive(),
        counting_semaphore_primitive(),
        permits_primitive(),
    };
}

/// The parts of the table of checks of a lock.
std::vector<check> lock_turn_checks();
std::vector<check> lock_loss_checks();
std::vector<check> lock_token_checks();
std::vector<check> fair_order_checks();
std::vector<check> fair_absence_checks();
std::vector<check> reading_checks();

/// The ids of those who wait for a fair lock, the next one first.
std::vector<std::string> queue_of(redis_probe& probe, std::string const& lock);

/// Whether `HOLDFAST_INTEROP` asks for more than the short form.
bool in_full();
std::string_view to_string(party which);

}  // namespace holdfast::test

#endif
