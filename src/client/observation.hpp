#ifndef HOLDFAST_CLIENT_OBSERVATION_HPP
#define HOLDFAST_CLIENT_OBSERVATION_HPP

#include "client/client_state.hpp"
#include "core/wait_queue_fsm.hpp"
#include "protocol/election.hpp"
#include "protocol/subscription.hpp"
#include "runtime/pending_handler.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/detail/election_operations.hpp>
#include <holdfast/leader_info.hpp>

#include <list>
#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::detail {

/// One observer of an election. It asks who leads when a leader is announced, when the lock is
/// freed, when the holder's lease may have ended and after each reconnection; and only while an
/// operation waits for the next change. Used on the client's strand, except where it says
/// otherwise.
class observation final : public std::enable_shared_from_this<observation> {
public:
    observation(std::shared_ptr<client_state> client, std::shared_ptr<election_keys const> keys);

    // From any thread.
    [[nodiscard]] election_keys const& keys() const noexcept { return *keys_; }
    [[nodiscard]] std::shared_ptr<client_state> const& client() const noexcept { return client_; }
    void next(leader_handler handler);
    /// The handle is gone: what waits is aborted.
    void abandon() noexcept;

    void on_connected();
    void on_disconnected();
    /// Those that wait are told the cause.
    void end_all(error_code cause);
    /// Nothing can run any more, or shall.
    void clear() noexcept;

private:
    using waiting_handler = std::shared_ptr<pending_handler<error_code, leader_info>>;

    // New leaders, and that the lock was freed.
    struct listener final : subscriber {
        explicit listener(observation& whom) : of{whom} {}
        void on_confirmed(bool again) override { of.on_confirmed(*this, again); }
        void on_unconfirmed() override { of.on_unconfirmed(*this); }
        void on_refused(error_code cause) override { of.on_refused(*this, cause); }
        void on_notification(std::string_view) override { of.on_news(); }

        observation& of;
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
    void on_news();
    void enter(waiting_handler waiting);
    void begin();
    void listen();
    void drop_aborted();
    void update() noexcept;
    void arm(time_point at);
    void send_look(time_point now);
    void on_answer(exec_result const& result);
    void on_found(leader_look found, time_point now);

    std::shared_ptr<client_state> client_;
    std::shared_ptr<election_keys const> keys_;
    wait_queue_fsm fsm_;
    std::list<waiting_handler> waiting_;
    // What was reported last; zeros: no leader.
    std::optional<leader_place> reported_;
    // The greatest one of those.
    leader_place newest_;
    listener announcements_{*this};
    listener releases_{*this};
    counted_listener counted_;
    subscription counted_channel_;
    std::optional<timer> timer_;
    bool begun_ = false;
    bool over_ = false;
};

}  // namespace holdfast::detail

#endif
