#ifndef HOLDFAST_CLIENT_LOOK_LOOP_HPP
#define HOLDFAST_CLIENT_LOOK_LOOP_HPP

#include "core/lease_terms.hpp"
#include "core/wait_queue_fsm.hpp"
#include "protocol/subscription.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/error.hpp>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail {

class client_state;

/// Looks at something on the server while somebody waits for it: when a message comes, when it may
/// have changed without one, and after each reconnection. `wait_queue_fsm` decides when, so that no
/// change is missed. Used on the client's strand.
class look_loop : public std::enable_shared_from_this<look_loop> {
public:
    virtual ~look_loop() = default;

    [[nodiscard]] std::shared_ptr<target const> const& on() const noexcept { return on_; }
    void on_connected(nanos delay);
    void on_disconnected() noexcept { fsm_.on_disconnected(); }
    /// It may have changed.
    void on_news();
    /// Ends the operations that wait.
    virtual void end_all(error_code cause) = 0;
    /// Nothing runs any more, or shall.
    virtual void clear() noexcept;

protected:
    look_loop(std::shared_ptr<client_state> client, std::shared_ptr<target const> on);

    /// Looks if there is a reason to, and sees to it that the next reason is noticed.
    void update();
    /// Looks again when this channel is confirmed, and at each message there.
    void listen(std::string_view name);
    [[nodiscard]] bool listens() const noexcept;
    void arm(time_point at);

    std::shared_ptr<client_state> client_;
    std::shared_ptr<target const> on_;
    wait_queue_fsm fsm_;
    // There was a message since the last look.
    bool notified_ = false;

private:
    struct channel final : subscriber {
        channel(look_loop& whom, std::string_view called) : of{whom}, name{called} {}
        void on_confirmed(bool again) override;
        void on_unconfirmed() override;
        void on_refused(error_code cause) override;
        void on_notification(std::string_view message) override;

        look_loop& of;
        std::string const name;
        bool confirmed = false;
        subscription listens;
    };

    /// Somebody waits.
    [[nodiscard]] virtual bool wanted() = 0;
    [[nodiscard]] virtual bool may_look() const = 0;
    /// Sends the request. Its answer is told to `fsm_`, and `update` called.
    virtual void look(time_point now) = 0;

    /// What is published now will arrive.
    [[nodiscard]] bool confirmed() const noexcept;

    friend class look_loops;

    std::list<channel> channels_;
    std::optional<timer> timer_;
    std::optional<std::list<std::shared_ptr<look_loop>>::iterator> listed_;
};

/// Loops of a client, which are told what happens to its connections.
class look_loops {
public:
    /// Nothing happens if it is there.
    void add(std::shared_ptr<look_loop> one);
    /// False if it was not there.
    bool remove(look_loop& one);
    /// They may be removed meanwhile.
    void for_each(client_context::some const& those, std::function<void(look_loop&)> const& f)
        const;

    void on_connected(client_context& client, client_context::some const& those);
    void on_disconnected(client_context::some const& those);
    void end_all(error_code cause, client_context::some const& those);
    void clear() noexcept;

private:
    // In the order in which they came.
    std::list<std::shared_ptr<look_loop>> all_;
};

}  // namespace holdfast::detail

#endif
