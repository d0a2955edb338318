#ifndef HOLDFAST_CLIENT_OBSERVATION_HPP
#define HOLDFAST_CLIENT_OBSERVATION_HPP

#include "client/client_state.hpp"
#include "core/leader_sequence.hpp"
#include "core/wait_queue_fsm.hpp"
#include "protocol/election.hpp"
#include "protocol/subscription.hpp"
#include "runtime/pending_handler.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/detail/election_operations.hpp>
#include <holdfast/leader_info.hpp>

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::detail {

/// One observer of an election. It reads the history where it left off when a leader is announced,
/// when the lock is freed, when the holder's lease may have ended and after each reconnection; and
/// only while somebody waits for the next change. Used on the client's strand, except where it says
/// otherwise.
class observation final : public std::enable_shared_from_this<observation> {
public:
    observation(std::shared_ptr<client_state> client, std::shared_ptr<election_keys const> keys);

    // From any thread.
    [[nodiscard]] election_keys const& keys() const noexcept { return *keys_; }
    [[nodiscard]] std::shared_ptr<client_state> const& client() const noexcept { return client_; }
    void next(change_of_leader_handler handler);
    /// The handle is gone: what waits is aborted.
    void abandon() noexcept;

    void on_connected();
    void on_disconnected();
    /// Those that wait are told the cause.
    void end_all(error_code cause);
    /// Nothing can run any more, or shall.
    void clear() noexcept;

private:
    using waiting_handler = std::shared_ptr<pending_handler<error_code, leader_change>>;

    // New leaders, and that the lock was freed.
    struct listener final : subscriber {
        using action = void (observation::*)(std::string_view message);
        listener(observation& whom, action notified) : of{whom}, told{notified} {}
        void on_confirmed(bool again) override { of.on_confirmed(*this, again); }
        void on_unconfirmed() override { of.on_unconfirmed(*this); }
        void on_refused(error_code cause) override { of.on_refused(*this, cause); }
        void on_notification(std::string_view message) override { (of.*told)(message); }

        observation& of;
        action told;
        bool confirmed = false;
        subscription listens;
    };
    // Without the right to it, the client counts as one that does not queue.
    struct counted_listener final : subscriber {
        void on_confirmed(bool) override {}
        void on_unconfirmed() override {}
        void on_refused(error_code) override {}
        void on_notification(std::string_view) override {}
    };

    void on_confirmed(listener& which, bool again);
    void on_unconfirmed(listener& which);
    void on_refused(listener& which, error_code cause);
    void on_announced(std::string_view message);
    void on_freed(std::string_view message);
    void enter(waiting_handler waiting);
    void begin();
    void listen();
    void drop_aborted();
    void deliver();
    void update() noexcept;
    void arm(time_point at);
    void send_look(time_point now);
    void on_answer(exec_result const& result);
    void on_found(leader_look found, time_point now);

    std::shared_ptr<client_state> client_;
    std::shared_ptr<election_keys const> keys_;
    wait_queue_fsm fsm_;
    leader_sequence sequence_;
    std::list<waiting_handler> waiting_;
    std::deque<leader_change> changes_;
    listener announcements_{*this, &observation::on_announced};
    listener releases_{*this, &observation::on_freed};
    counted_listener counted_;
    subscription counted_channel_;
    std::optional<timer> timer_;
    bool begun_ = false;
    bool over_ = false;
};

}  // namespace holdfast::detail

#endif
