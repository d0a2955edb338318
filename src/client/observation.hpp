#ifndef HOLDFAST_CLIENT_OBSERVATION_HPP
#define HOLDFAST_CLIENT_OBSERVATION_HPP

#include "client/client_state.hpp"
#include "client/look_loop.hpp"
#include "protocol/election.hpp"
#include "protocol/subscription.hpp"
#include "runtime/pending_handler.hpp"

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
class observation final : public look_loop {
public:
    observation(std::shared_ptr<client_state> client, std::shared_ptr<election_keys const> keys);

    // From any thread.
    [[nodiscard]] election_keys const& keys() const noexcept { return *keys_; }
    [[nodiscard]] std::shared_ptr<client_state> const& client() const noexcept { return client_; }
    void next(leader_handler handler);
    /// The handle is gone: what waits is aborted.
    void abandon() noexcept;

    void end_all(error_code cause) override;
    void clear() noexcept override;

private:
    using waiting_handler = std::shared_ptr<pending_handler<error_code, leader_info>>;

    // Without the right to it, the client counts as one that does not queue.
    struct counted_listener final : subscriber {
        void on_confirmed(bool) override {}
        void on_unconfirmed() override {}
        void on_refused(error_code) override {}
        void on_notification(std::string_view) override {}
    };

    [[nodiscard]] bool wanted() override;
    [[nodiscard]] bool may_look() const override { return client_->can_execute(*on_); }
    void look(time_point now) override;
    void enter(waiting_handler waiting);
    void begin();
    void drop_aborted();
    void on_answer(exec_result const& result);
    void on_found(leader_look found, time_point now);

    std::shared_ptr<election_keys const> keys_;
    std::list<waiting_handler> waiting_;
    // What was reported last; zeros: no leader.
    std::optional<leader_place> reported_;
    // The greatest one of those.
    leader_place newest_;
    counted_listener counted_;
    subscription counted_channel_;
    bool over_ = false;
};

}  // namespace holdfast::detail

#endif
