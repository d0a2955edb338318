#ifndef HOLDFAST_MEMORY_SERVER_SERVER_HPP
#define HOLDFAST_MEMORY_SERVER_SERVER_HPP

#include "memory_server/redis_model.hpp"
#include "protocol/backend.hpp"
#include "runtime/counters.hpp"

#include <holdfast/lease_clock.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::memory {

class connection;

/// A server in memory for clients with real executors. It runs the scripts as a server does, its
/// time is that of the lease clock, and everything unpleasant happens at the user's command.
///
/// Thread-safe. Backends keep it alive.
class server : public std::enable_shared_from_this<server> {
public:
    static std::shared_ptr<server> make();
    server(server const&) = delete;
    server& operator=(server const&) = delete;
    ~server();

    /// What a client needs. Any number of clients may share a server. `companion` is kept until the
    /// backend is stopped or destroyed.
    std::unique_ptr<detail::backend> make_backend(
        boost::asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count,
        std::shared_ptr<void> companion = {}
    );

    // What is on the server.
    bool exists(std::string_view key);
    std::int64_t pttl(std::string_view key);  // -1: does not expire; -2: no such key
    std::vector<std::string> keys();          // sorted
    /// All keys but token counters.
    std::vector<std::string> lock_keys();
    std::map<std::string, std::string> hgetall(std::string_view key);
    std::size_t subscriptions();          // over all channels and connections
    std::vector<std::string> channels();  // that somebody listens to, sorted
    /// Clients whose connections are up.
    std::size_t clients();

    // What somebody else does to it.
    value run(std::initializer_list<std::string_view> command);
    void hset(std::string_view key, std::string_view field, std::string_view content);
    void set(std::string_view key, std::string_view content);
    void pexpire(std::string_view key, std::chrono::milliseconds after);
    void del(std::string_view key);
    /// As a client's request, at once, whatever the gates.
    detail::exec_result carry_out(detail::call const& what);
    void publish(std::string_view channel);
    /// Another holder's lock: taken, and given back with a notification.
    void lock_as_other(std::string_view key, std::chrono::milliseconds lease);
    void unlock_as_other(std::string_view key);

    // Scripts that have arrived, executed or not: all, or those of one name.
    std::size_t arrived(std::string_view script = {});
    std::size_t executed(std::string_view script = {});

    // Faults. Gates stay closed until they are opened; what waits behind one is not reordered.
    /// Nothing is executed.
    void hold_requests(bool hold);
    /// What is executed is not answered.
    void hold_replies(bool hold);
    /// SUBSCRIBE and UNSUBSCRIBE are not executed.
    void hold_confirmations(bool hold);
    /// The next `n` executions of a script, or of any if it has no name, are never answered.
    void drop_replies(std::string_view script, int n = 1);
    /// The next `n` requests for a script, or for any if it has no name, get this answer instead of
    /// being executed.
    void refuse(std::string_view script, detail::exec_result answer, int n = 1);

    /// Connections break and come back; those of clients made later are affected too.
    void set_up(bool up);
    void set_commands_up(bool up);
    void set_notifications_up(bool up);
    /// All connections break, and are made again at once if the server is up.
    void drop_connections();
    /// The process ends, and another one takes its place that knows nothing.
    void restart_empty();
    /// Both connections break, for a cause that does not pass until `set_up(true)`.
    void fail(error_code cause);

private:
    friend class connection;

    struct refusal_of {
        std::string script;
        detail::exec_result answer;
        int left;
    };
    struct tally {
        std::size_t arrived = 0;
        std::size_t executed = 0;
    };

    server();

    // All of these under the mutex.
    redis_model& now();
    detail::exec_result execute(detail::call const& what);
    value run_now(std::initializer_list<std::string_view> command);
    std::optional<detail::exec_result> refused(std::string_view script);
    bool takes_drop(std::string_view script);
    std::vector<std::shared_ptr<connection>> connections();
    void change(bool commands_up, bool subscriptions_up, error_code failure);
    void pump();
    void begin_process();
    void break_connections();

    std::mutex mutex_;
    redis_model model_;
    redis_model::session_id session_ = 0;
    // What its wall clock is ahead by: starting anew takes a moment, whatever the lease clock says.
    std::chrono::microseconds restarts_took_{0};
    // Of the process, as `backend::identity` has it.
    std::string run_id_;
    lease_clock::time_point began_{};
    std::vector<std::weak_ptr<connection>> connections_;
    std::map<std::string, tally, std::less<>> tallies_;
    std::vector<refusal_of> refusals_;
    std::map<std::string, int, std::less<>> drops_;
    error_code failure_;
    bool requests_held_ = false;
    bool replies_held_ = false;
    bool confirmations_held_ = false;
    bool commands_up_ = true;
    bool subscriptions_up_ = true;
};

}  // namespace holdfast::memory

#endif
