#ifndef HOLDFAST_TEST_SUPPORT_FAKE_PORT_HPP
#define HOLDFAST_TEST_SUPPORT_FAKE_PORT_HPP

#include "ops/client_state.hpp"
#include "ops/redis_port.hpp"

#include <holdfast/client.hpp>
#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// The way into a client for tests.
struct client_access {
    static client make(std::shared_ptr<detail::client_state> state) {
        return client{std::move(state)};
    }
    static std::shared_ptr<detail::client_state> state(client const& of) { return of.state_; }
};

}  // namespace holdfast

namespace holdfast::test {

class fake_connection;

/// A server in memory, and a stand-in for what speaks to it: the scripts' meaning without Lua,
/// times by the lease clock, and every unpleasant thing at the test's command.
///
/// Thread-safe. Ports keep it alive.
class fake_server : public std::enable_shared_from_this<fake_server> {
public:
    static std::shared_ptr<fake_server> make();
    fake_server(fake_server const&) = delete;
    fake_server& operator=(fake_server const&) = delete;
    ~fake_server();

    /// A client of this server. Any number may share it.
    client make_client(boost::asio::any_io_executor executor, config settings = {});

    std::unique_ptr<detail::redis_port> make_port(
        boost::asio::any_io_executor strand,
        std::shared_ptr<config const> settings,
        std::shared_ptr<detail::counters> count
    );

    // What is on the server.
    bool exists(std::string const& key);
    std::int64_t pttl(std::string const& key);  // -1: does not expire; -2: no such key
    std::vector<std::string> keys();            // sorted
    /// All keys but token counters.
    std::vector<std::string> lock_keys();
    std::map<std::string, std::string> hgetall(std::string const& key);
    std::size_t subscriptions();  // over all channels and connections

    // What somebody else does to it.
    void hset(std::string const& key, std::string const& field, std::string const& value);
    void set(std::string const& key, std::string const& value);
    void pexpire(std::string const& key, std::chrono::milliseconds after);
    void del(std::string const& key);
    void publish(std::string const& channel);
    /// Another holder's lock: taken, and given back with a notice.
    void lock_as_other(std::string const& key, std::chrono::milliseconds lease);
    void unlock_as_other(std::string const& key);

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
    /// The next `n` executions of a script are never answered.
    void drop_replies(std::string_view script, int n = 1);
    /// The next `n` requests for a script get this answer instead of being executed.
    void refuse(std::string_view script, detail::exec_result answer, int n = 1);
    /// Subscriptions are refused from now on, unless the cause is success.
    void refuse_subscriptions(error_code cause);

    /// Connections break and come back; those of clients made later are affected too.
    void set_up(bool up);
    void set_commands_up(bool up);
    void set_notices_up(bool up);
    /// Both connections break, for a cause that does not pass until `set_up(true)`.
    void fail(error_code cause);

private:
    friend class fake_connection;

    struct value {
        bool is_hash = true;
        std::map<std::string, std::string> fields;
        std::string text;
        std::optional<lease_clock::time_point> ends;
    };
    struct refusal {
        std::string script;
        detail::exec_result answer;
        int left;
    };
    struct tally {
        std::size_t arrived = 0;
        std::size_t executed = 0;
    };

    fake_server() = default;

    // All of these under the mutex.
    value* find(std::string const& key);
    std::int64_t pttl_of(std::string const& key);
    void publish_now(std::string const& channel);
    detail::exec_result execute(
        std::string_view script,
        std::vector<std::string> const& keys,
        std::vector<std::string> const& args
    );
    detail::exec_result acquire(
        std::vector<std::string> const& keys,
        std::vector<std::string> const& args
    );
    detail::exec_result release(
        std::vector<std::string> const& keys,
        std::vector<std::string> const& args
    );
    detail::exec_result renew(
        std::vector<std::string> const& keys,
        std::vector<std::string> const& args
    );
    detail::exec_result force_release(std::vector<std::string> const& keys);
    detail::exec_result inspect(std::vector<std::string> const& keys);
    std::int64_t next_token(std::string const& counter, std::chrono::milliseconds keep);
    std::optional<detail::exec_result> refused(std::string_view script);
    bool takes_drop(std::string_view script);
    std::vector<std::shared_ptr<fake_connection>> connections();
    void pump();

    std::mutex mutex_;
    std::map<std::string, value> data_;
    std::vector<std::weak_ptr<fake_connection>> connections_;
    std::map<std::string, tally, std::less<>> tallies_;
    std::vector<refusal> refusals_;
    std::map<std::string, int, std::less<>> drops_;
    error_code subscription_refusal_;
    error_code failure_;
    bool requests_held_ = false;
    bool replies_held_ = false;
    bool confirmations_held_ = false;
    bool commands_up_ = true;
    bool notices_up_ = true;
};

}  // namespace holdfast::test

#endif
