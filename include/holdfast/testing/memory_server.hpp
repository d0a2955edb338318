#ifndef HOLDFAST_TESTING_MEMORY_SERVER_HPP
#define HOLDFAST_TESTING_MEMORY_SERVER_HPP

#include <holdfast/detail/backend_source.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lock_info.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What tests of your own code need: the library in CMake's target `holdfast::testing`. No program
/// for users should have it.
namespace holdfast::testing {

/// See `memory_server`.
///
/// @par Thread safety   Safe.
struct virtual_time_t {
    /// Has no value: `virtual_time` is one.
    explicit virtual_time_t() noexcept = default;
};

/// For the constructor of a `memory_server` whose time stands still.
inline constexpr virtual_time_t virtual_time{};

/// A server in memory, in the place of Redis, for tests of code that uses locks. It runs the same
/// scripts as Redis does, and the clients of it are the real ones:
///
///     testing::memory_server server;
///     holdfast::client client{context, server};
///
/// It has no thread and no socket: what a client asks is executed on the client's executor.
///
/// @par Time
/// `lease_clock` is one for the whole process, and so is the time of all memory servers. It runs as
/// ever, and `advance()` moves it ahead. While a server lives that was made with `virtual_time`, it
/// stands still: then time passes by `advance()`, `advance_until()` and `jump()` only, no test has
/// to sleep, and each run is like the one before. The clock never goes back, so it stays ahead of
/// the system's when all servers are gone. A program should not have clients of memory servers and
/// of others at a time: the leases of the others would end too early.
///
/// What the library sleeps follows this time: leases, renewals, waiting, time-outs. Timers of your
/// own, and those of `asio::cancel_after`, are Asio's, and follow the system's.
///
/// @par Lifetimes       It may be destroyed before its clients, which go on using what it held.
/// @par Thread safety   Shared objects: safe, except destruction. Where a function runs handlers,
/// it does so in the thread that calls it.
class memory_server final : public detail::backend_source {
public:
    /// Empty, with running time.
    ///
    /// @par Errors   None.
    memory_server();
    /// Empty, with virtual time.
    ///
    /// @par Errors   None.
    explicit memory_server(virtual_time_t);
    /// There is one of each: clients refer to it.
    memory_server(memory_server const&) = delete;
    /// As the constructor.
    memory_server& operator=(memory_server const&) = delete;
    /// Its clients may go on, as said above.
    ~memory_server();

    /// Moves time ahead by so much, in steps: to the next instant at which a timer of the library
    /// is due, and so on, to the end. Before the first step and after each one it runs the handlers
    /// that are ready, as `settle()`. So a renewal is sent when it is due, and answered before time
    /// goes on.
    ///
    /// @throws std::invalid_argument if `by` is negative.
    /// @throws std::logic_error as `settle()`; and whatever a handler throws.
    void advance(std::chrono::nanoseconds by);

    /// The same until `done()` is true, which is asked at each step: for what takes nobody knows
    /// how long. @returns false if it was not true within `limit`; that much time has passed then.
    ///
    /// @throws What `advance()` throws, and whatever `done` throws.
    bool advance_until(
        std::function<bool()> const& done,
        std::chrono::nanoseconds limit = std::chrono::hours{24}
    );

    /// Runs the handlers that are ready, and those that become ready by that, until there are none:
    /// of every `io_context` that a client of a memory server was made with. No time passes. A
    /// context that had run out of work is restarted.
    ///
    /// A new client is connected by this. What it was asked before that begins some microseconds
    /// later: `advance()` past them, or settle before asking.
    ///
    /// It may be called by such a handler too, a coroutine for instance. What must wait for that
    /// handler to end, because it shares its strand, is not run.
    ///
    /// @throws std::logic_error if a client was made with an executor that is not that of an
    /// `io_context`, or of a strand of one: a thread pool runs its handlers itself. Or if there is
    /// no end of ready handlers.
    void settle();

    /// Moves time ahead by so much at once, and runs nothing: as if the program, or its machine,
    /// had stood still. Timers that were due meanwhile fire as soon as handlers are run. For every
    /// kind of executor.
    ///
    /// @throws std::invalid_argument if `by` is negative.
    void jump(std::chrono::nanoseconds by);

    // --- Faults

    /// All connections break, and are made again at once. What was not answered yet may have been
    /// executed: the client does not know.
    ///
    /// @par Errors   None.
    void drop_connections();
    /// All connections break, and none can be made until `start()`. The data stays.
    ///
    /// @par Errors   None.
    void stop();
    /// Ends `stop()`. Clients are connected at once.
    ///
    /// @par Errors   None.
    void start();
    /// The server stands still: what it is sent waits, unanswered, until `resume()`. Keys expire
    /// meanwhile.
    ///
    /// @par Errors   None.
    void pause();
    /// Ends `pause()`. Everything that waits is executed, also what its client has given up.
    ///
    /// @par Errors   None.
    void resume();
    /// The server is started anew without its data: connections break and are made again, and no
    /// lock is there any more.
    ///
    /// @par Errors   None.
    void lose_data();
    /// The next `count` requests, of any client, are not executed and end with this error:
    /// `server_refused`, `no_permission`, `auth_failed`, `corrupt_state` or `unsupported_server` as
    /// the server's answer; `unreachable` as no answer at all.
    ///
    /// The library repeats what may succeed when it is repeated.
    ///
    /// @throws std::invalid_argument for another error.
    void fail_next(errc code, std::size_t count = 1);
    /// The next `count` requests are executed, but never answered.
    ///
    /// @par Errors   None.
    void lose_next_replies(std::size_t count = 1);

    // --- What others do

    /// Somebody else takes a lock who never renews it, whoever had it before. The lock is free
    /// again after `lease`, or by `release_as_other()`.
    ///
    /// @par Errors   None.
    void hold_as_other(std::string_view lock, std::chrono::milliseconds lease);
    /// Gives such a lock back, with a notification.
    ///
    /// @par Errors   None.
    void release_as_other(std::string_view lock);
    /// Deletes a key, as an operator may. Nobody is notified. @returns whether it was there.
    ///
    /// @par Errors   None.
    bool erase(std::string_view key);

    // --- What it holds

    /// Everything, sorted: locks under their names, with `config::key_prefix`, and the library's
    /// own keys.
    ///
    /// @par Errors   None.
    [[nodiscard]] std::vector<std::string> keys() const;
    /// The locks, semaphores and so on that are held, and the queues of those that wait: all keys
    /// but those that outlive a lock.
    ///
    /// @par Errors   None.
    [[nodiscard]] std::vector<std::string> lock_keys() const;
    /// What `inspect()` of a `holdfast::lock` finds: its holder, its last token, how many clients
    /// wait, and so on; `local_waiters` is always zero.
    ///
    /// @throws std::invalid_argument if that is no name of a lock, or its key is none.
    [[nodiscard]] lock_info inspect(std::string_view lock) const;
    /// The channels that somebody listens to, sorted.
    ///
    /// @par Errors   None.
    [[nodiscard]] std::vector<std::string> channels() const;
    /// The number of clients that are connected.
    ///
    /// @par Errors   None.
    [[nodiscard]] std::size_t clients() const;
    /// How many scripts were executed: what a test compares to see whether anything was asked.
    ///
    /// @par Errors   None.
    [[nodiscard]] std::size_t executed_scripts() const;

private:
    struct state;

    explicit memory_server(bool stop_clock);
    [[nodiscard]] std::unique_ptr<detail::backend> make_backend(
        asio::any_io_executor executor,
        asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    ) override;

    std::unique_ptr<state> state_;
};

}  // namespace holdfast::testing

#endif
