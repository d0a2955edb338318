#ifndef HOLDFAST_TEST_WIRE_SCENARIO_HPP
#define HOLDFAST_TEST_WIRE_SCENARIO_HPP

#include "disturbance.hpp"
#include "fault_router.hpp"
#include "pending.hpp"
#include "report.hpp"
#include "support/redis_probe.hpp"

#include <holdfast.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// What all exchanges of a run share.
struct stage {
    boost::asio::any_io_executor executor;
    fault_router& board;
    redis_probe& probe;                 // of the server behind the proxy
    client& rival;                      // by the same proxy, but no fault meets it
    std::chrono::milliseconds timeout;  // `config::request_timeout` of the tested clients
    std::chrono::milliseconds bound;    // no operation takes longer, whatever the fault
};

class exchange;

/// A piece of the reference scenario: the operations around one message of the server.
struct step {
    std::string_view name;
    link_kind link;
    message_kind message;
    boost::asio::awaitable<void> (exchange::*run)();
};

/// The reference scenario.
std::vector<step> const& all_steps();

/// The length of the step's message where it cannot be seen without a fault.
inline constexpr std::size_t health_reply_size = 14;  // "$8", "holdfast"

/// Runs all steps in any order without a fault, but for the checks of idle connections: afterwards
/// the server knows all scripts. Returns how long each step's message was.
boost::asio::awaitable<std::vector<std::size_t>> preflight(
    stage& on,
    client& tested,
    std::string const& name,
    std::shared_ptr<report> const& findings
);

/// One run of a step: a client under test and its rival deal with a lock of their own, while
/// something may happen to the step's message.
///
/// Where leases are longer than the bound, no check can be satisfied by the end of one.
class exchange : public std::enable_shared_from_this<exchange> {
public:
    /// `name`: of the client. `key`: of a lock that nobody has used. Without a fault nothing may
    /// fail at all.
    exchange(
        stage& on,
        client& tested,
        std::string name,
        std::string key,
        std::shared_ptr<report> findings,
        step const& what,
        std::optional<disturbance> fault
    );

    /// Reports what goes wrong. False if the client cannot be used any more.
    boost::asio::awaitable<bool> run();

    /// Once `run` has ended: how long the step's message was; 0 if there was none.
    std::size_t message_size() const { return size_; }

private:
    friend std::vector<step> const& all_steps();

    // One who wants a lock, with its present operation.
    struct party {
        client& by;
        std::string key;
        lease held;
        error_code error;
        pending ended;
        lease_clock::time_point since{};
    };

    // Thrown when an operation does not end: the rest of the step makes no sense.
    struct abandoned {};

    // The steps.
    boost::asio::awaitable<void> probed();
    boost::asio::awaitable<void> idle();
    boost::asio::awaitable<void> granted();
    boost::asio::awaitable<void> granted_at_once();
    boost::asio::awaitable<void> script_unknown();
    boost::asio::awaitable<void> granted_by_its_text();
    boost::asio::awaitable<void> granted_at_once_by_its_text();
    boost::asio::awaitable<void> busy();
    boost::asio::awaitable<void> busy_at_once();
    boost::asio::awaitable<void> renewed();
    boost::asio::awaitable<void> kept_alive();
    boost::asio::awaitable<void> released();
    boost::asio::awaitable<void> dropped();
    boost::asio::awaitable<void> inspected();
    boost::asio::awaitable<void> force_released();
    boost::asio::awaitable<void> refused();
    boost::asio::awaitable<void> subscriber_probed();
    boost::asio::awaitable<void> notified();
    boost::asio::awaitable<void> unsubscribed();

    // The fault.
    void forget_script();
    void arm();
    fault_router::edit strike_once();
    void on_struck(std::size_t connection, std::size_t size, bool is_last);
    boost::asio::awaitable<void> struck();
    boost::asio::awaitable<void> heal(bool is_last);
    boost::asio::awaitable<void> given_up();

    // What both parties do. Those that begin an operation do not wait for its end.
    void begin(party& who);
    void begin_acquire(party& who, acquire_options options = {});
    void begin_try();
    void begin_renew();
    void begin_release(party& who);
    void begin_inspect();
    void begin_force_release();
    boost::asio::awaitable<void> end(party& who, char const* what, errc also_allowed = errc{});
    boost::asio::awaitable<void> take(party& who, acquire_options options = {});
    boost::asio::awaitable<void> give_back(party& who);
    boost::asio::awaitable<void> hand_over();
    boost::asio::awaitable<void> refusals(std::uint64_t count);
    boost::asio::awaitable<void> disperse();
    boost::asio::awaitable<void> follow_up();
    boost::asio::awaitable<void> outlive_lies();
    boost::asio::awaitable<void> look_at_epoch();
    boost::asio::awaitable<void> settle();
    boost::asio::awaitable<void> expect(
        violation otherwise,
        char const* what,
        std::function<bool()> holds
    );
    bool lies() const { return fault_ && fault_->lies; }
    void delivered(party& who, error_code ec, lease granted);
    void judge(party const& who);
    void found(violation what, std::string const& details);
    std::string where() const;

    stage& stage_;
    std::string name_;
    std::string key_;
    std::shared_ptr<report> findings_;
    step const& step_;
    std::optional<disturbance> fault_;
    party mine_;
    party theirs_;
    std::array<party, 3> crowd_;
    pending struck_;
    pending healed_;
    lease_clock::time_point armed_at_{};
    std::size_t connection_ = 0;  // that was struck
    std::size_t size_ = 0;
    std::uint64_t reconnects_ = 0;  // before
    bool recovering_ = false;
    bool usable_ = true;
};

}  // namespace holdfast::test

#endif
