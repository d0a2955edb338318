#ifndef HOLDFAST_MEMORY_SERVER_CONNECTION_HPP
#define HOLDFAST_MEMORY_SERVER_CONNECTION_HPP

#include "memory_server/server.hpp"
#include "protocol/backend.hpp"
#include "protocol/channels.hpp"
#include "runtime/counters.hpp"
#include "runtime/runtime.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::memory {

namespace asio = boost::asio;

/// Both connections of one client. What is not said to be on the strand happens under the server's
/// mutex; handlers and events run on the strand, in turns of their own.
class connection : public std::enable_shared_from_this<connection> {
public:
    using purpose = detail::connection_id::purpose;

    connection(
        std::shared_ptr<server> to,
        asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    );

    // What the backend is asked, on the strand.
    void start(detail::backend_events& events);
    void stop();
    /// The strand's context may be gone after this.
    void close();
    void exec(detail::call&& what, detail::exec_handler&& handler);
    /// What was executed waits for replicas until its time is up.
    void exec_replicated(
        detail::call&& what,
        detail::replication const& wanted,
        detail::replicated_handler&& handler
    );
    [[nodiscard]] detail::subscription subscribe(std::string channel, detail::subscriber& to);
    [[nodiscard]] bool up(purpose what) const;
    [[nodiscard]] detail::backend::obstacle why_down() const;
    [[nodiscard]] detail::backend::identity who() const { return {run_id_, began_by_}; }

    // What the server does, under its mutex.
    /// Follows the server's state of the connections.
    void update();
    /// Goes on as far as the gates allow.
    void pump();
    [[nodiscard]] bool is_up() const { return commands_.up && subscriptions_.up; }

private:
    struct request {
        detail::call what;
        detail::exec_handler handler;
        std::optional<detail::exec_result> result{};
        bool dropped = false;
        std::optional<detail::timer> timeout{};
    };
    using requests = std::list<std::shared_ptr<request>>;
    struct sent {
        bool subscribe;
        std::string channel;
        std::uint64_t generation;
    };
    /// One of the two: what the server says of it, and what the client has been told.
    struct line {
        bool up = false;
        bool told_up = false;
        std::uint64_t epoch = 0;
    };

    line& of(purpose what) { return what == purpose::commands ? commands_ : subscriptions_; }
    line const& of(purpose what) const {
        return what == purpose::commands ? commands_ : subscriptions_;
    }
    void tell(std::function<void(detail::backend_events&)> what);
    void come_up(purpose what);
    void go_down(purpose what);
    void report_down();
    void carry_out(request& one);
    void answer(request& one, detail::exec_result result);
    void wait_for_replicas(
        std::chrono::nanoseconds timeout,
        detail::exec_result result,
        detail::replicated_handler handler
    );
    void answer_lost();
    void lose_all();
    void forget();
    void listen();
    void on_wanted(std::string const& channel);
    void on_unwanted(std::string const& channel);
    void send(bool subscribe, std::string const& channel, std::uint64_t generation);
    void confirm(sent const& next);
    [[nodiscard]] bool wants(sent const& what) const;

    std::shared_ptr<server> server_;
    asio::any_io_executor strand_;
    std::shared_ptr<detail::counters> count_;
    std::shared_ptr<detail::channels> channels_;
    detail::backend_events* events_ = nullptr;
    redis_model::session_id session_ = 0;
    line commands_;
    line subscriptions_;
    requests in_flight_;
    requests unheard_;  // executed, and never to be answered in time
    requests lost_;     // with their connection
    std::map<std::string, std::uint64_t, std::less<>> wanted_;
    std::deque<sent> unanswered_;
    std::uint64_t generation_ = 0;
    error_code failure_;
    // Of the server that the command connection leads to, as the client was told. On the strand.
    std::string run_id_;
    lease_clock::time_point began_by_ = lease_clock::time_point::min();
};

}  // namespace holdfast::memory

#endif
