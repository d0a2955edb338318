#ifndef HOLDFAST_TEST_SIMULATION_LINK_HPP
#define HOLDFAST_TEST_SIMULATION_LINK_HPP

#include "memory_server/redis_model.hpp"
#include "simulation/world.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::sim {

using memory::redis_model;
using memory::refusal;
using memory::user_rules;
using memory::value;

class connection;
class server;
struct machine;

enum class direction { to_server, to_client };

/// The bytes of one direction of a connection, in their order.
struct stream {
    /// When the last of what was sent arrives.
    nanos last_arrival{0};
    /// Nothing arrives any more, and nobody is told.
    bool black_hole = false;
};

/// What happens once to an answer on its way.
enum class answer_fault { none, drop, duplicate, swap, insert };

/// One connection in TCP's sense: in order, whole, or broken.
class link : public std::enable_shared_from_this<link> {
public:
    link(server& to, machine& at, std::shared_ptr<connection> const& client);

    void send_to_server(std::string bytes);
    void send_to_client(value message);
    /// The client is gone. What is under way may still be executed.
    void close_by_client();
    /// The server closes, or dies.
    void close_by_server(error_code what_the_client_sees);

    /// The client sees the connection fail, and the server does not.
    void fail_at_client(error_code why);

    [[nodiscard]] bool open() const noexcept { return !client_closed_ && !server_closed_; }
    /// The number of the client's process, which may be gone.
    [[nodiscard]] std::uint32_t of() const noexcept { return of_; }
    /// The machine that it leads to.
    [[nodiscard]] machine& at() const noexcept { return at_; }
    [[nodiscard]] bool is_for_commands() const noexcept { return for_commands_; }

    stream& way(direction which) noexcept { return which == direction::to_server ? up_ : down_; }
    void set_answer_fault(answer_fault what) noexcept { answer_fault_ = what; }
    /// Looks from now on whether the other end is dead.
    void watch_health();

private:
    friend class server;

    void arrive_at_server(std::string bytes);
    void transmit(value message);
    void transmit_grant(value message);
    void end_session();
    void watch_health_since(nanos contact);
    void check_health(nanos since);
    [[nodiscard]] bool silent();
    template <class F>
    void send(direction which, F what);

    server& to_;
    machine& at_;
    std::weak_ptr<connection> client_;
    std::uint32_t of_;
    nanos health_check_;
    redis_model::session_id session_{};
    std::deque<std::string> at_server_;
    std::size_t under_way_ = 0;
    stream up_;
    stream down_;
    std::optional<value> kept_back_;
    answer_fault answer_fault_ = answer_fault::none;
    nanos last_contact_{0};
    // After the client closed: what is under way is lost, or comes so much later.
    bool rest_is_lost_ = false;
    nanos rest_is_late_by_{0};
    bool watching_ = false;
    bool client_closed_ = false;
    bool server_closed_ = false;
    bool session_ended_ = false;
    bool for_commands_ = false;
};

}  // namespace holdfast::sim

#endif
