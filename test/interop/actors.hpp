#ifndef HOLDFAST_TEST_INTEROP_ACTORS_HPP
#define HOLDFAST_TEST_INTEROP_ACTORS_HPP

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast {
class client;
}

namespace holdfast::test {

class java_peer;

enum class party { ours, java };

/// How long a lease is that is renewed, on both sides.
inline constexpr std::chrono::milliseconds renewed_lease{2000};

/// What one side sees of a lock that it does not hold itself.
struct view {
    bool held = false;
    std::chrono::milliseconds remaining{0};
};

/// One who holds or waits for a lock: a task of ours, or a thread of Redisson's. The same actor may
/// hold a lock several times.
class lock_actor {
public:
    template <class T>
    using awaitable = boost::asio::awaitable<T>;
    using milliseconds = std::chrono::milliseconds;

    virtual ~lock_actor() = default;

    /// Waits for the lock, for a lease that is not renewed. Returns the token; 0 without one.
    virtual awaitable<std::uint64_t> acquire(milliseconds lease) = 0;

    /// The same, renewed, with a lease of `renewed_lease`: for Redisson that is its watchdog's.
    virtual awaitable<std::uint64_t> acquire_renewed() = 0;

    virtual awaitable<bool> try_acquire() = 0;
    virtual awaitable<bool> try_acquire_for(milliseconds wait) = 0;

    /// Gives one hold back. False if the lock was not this actor's any more.
    virtual awaitable<bool> release() = 0;

    /// Whether the actor knows itself to be the holder.
    virtual awaitable<bool> holds() = 0;

    /// Takes the lock away from whoever has it; whether somebody had.
    virtual awaitable<bool> force() = 0;

    virtual awaitable<view> look() = 0;
};

std::unique_ptr<lock_actor> our_lock_actor(client& by, std::string const& name);
std::unique_ptr<lock_actor> our_fair_lock_actor(client& by, std::string const& name);
std::unique_ptr<lock_actor> our_read_lock_actor(client& by, std::string const& name);
std::unique_ptr<lock_actor> our_write_lock_actor(client& by, std::string const& name);
/// Of two locks, that of this name and `second_of` it. It cannot look, nor take by force.
std::unique_ptr<lock_actor> our_multi_lock_actor(client& by, std::string const& name);
inline std::string second_of(std::string const& name) {
    return name + ":other";
}

/// `primitive` is the prefix of the peer's commands.
std::unique_ptr<lock_actor> java_lock_actor(
    java_peer& by,
    std::string const& primitive,
    std::string const& name,
    bool has_tokens
);

}  // namespace holdfast::test

#endif
