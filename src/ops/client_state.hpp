#ifndef HOLDFAST_OPS_CLIENT_STATE_HPP
#define HOLDFAST_OPS_CLIENT_STATE_HPP

#include "core/acquire_fsm.hpp"
#include "core/holder_id.hpp"
#include "core/key_names.hpp"
#include "core/lease_terms.hpp"
#include "ops/counters.hpp"
#include "ops/grant.hpp"
#include "ops/owner_table.hpp"
#include "ops/pending_handler.hpp"
#include "ops/redis_port.hpp"
#include "ops/releaser.hpp"
#include "ops/room_table.hpp"
#include "ops/runtime.hpp"

#include <holdfast/client.hpp>
#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::detail {

class acquire_op;
class context_service;

/// Everything that the handles of one client share. Used on its strand, except where it says
/// otherwise.
class client_state final : public std::enable_shared_from_this<client_state>, private port_events {
public:
    using port_factory = std::function<std::unique_ptr<
        redis_port>(asio::any_io_executor strand, std::shared_ptr<config const>, std::shared_ptr<counters>)>;

    /// @throws std::invalid_argument for a wrong configuration.
    static std::shared_ptr<client_state> make(
        asio::any_io_executor executor,
        config settings,
        port_factory const& make_port
    );
    ~client_state();

    // From any thread.
    [[nodiscard]] asio::any_io_executor const& executor() const noexcept { return executor_; }
    [[nodiscard]] asio::any_io_executor const& strand() const noexcept { return strand_; }
    [[nodiscard]] config const& settings() const noexcept { return *settings_; }
    [[nodiscard]] counters& count() noexcept { return *count_; }
    [[nodiscard]] stats snapshot() const noexcept { return count_->snapshot(); }
    [[nodiscard]] holder_id make_holder_id() const { return {client_id_, random_from_system()}; }
    /// The executor's context was destroyed: there is nowhere to run anything.
    [[nodiscard]] bool gone() const noexcept { return gone_.load(std::memory_order_acquire); }
    void ready(plain_handler handler);
    void shutdown(plain_handler handler);
    /// From the destructor of the handle.
    void abandon() noexcept;
    /// Runs `f` on the strand, unless there is none any more; never inside this call.
    template <class F>
    void on_strand(F f) {
        if (!gone()) {
            asio::post(strand_, std::move(f));
        }
    }
    /// Runs `f` on the strand, now if this thread may enter it. Not for what calls the user back.
    template <class F>
    void enter_strand(F f) {
        if (gone()) {
            return;
        }
        // Already inside: whoever called us there is in the middle of something.
        if (strand_.target<strand_type>()->running_in_this_thread()) {
            asio::post(strand_, std::move(f));
        } else {
            asio::dispatch(strand_, std::move(f));
        }
    }

    // Acquisitions.
    void enter(std::shared_ptr<acquire_op> op);
    void leave(acquire_op& op);
    void exec_acquire(acquire_op& op, exec_handler handler);
    [[nodiscard]] lease make_lease(
        acquire_op& op,
        fencing_token token,
        asio::any_io_executor const& holder
    );
    void withdraw(acquire_op const& op);

    // Grants.
    void exec_renew(grant& held, exec_handler handler);
    void release(release_task task);
    void forget(grant& held);

    void exec(
        script const& what,
        boost::span<std::string_view const> keys,
        boost::span<std::string_view const> args,
        nanos timeout,
        exec_handler handler
    );
    /// Calls `f(error_code)` on the strand when requests can be sent, or with the cause after a
    /// request time-out.
    void when_connected(std::function<void(error_code)> f);
    void on_release_settled();

    [[nodiscard]] owner_table const& owners() const noexcept { return owners_; }
    [[nodiscard]] room_table& rooms() noexcept { return rooms_; }
    [[nodiscard]] room_table const& rooms() const noexcept { return rooms_; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    [[nodiscard]] bool commands_up() const { return port_ && port_->commands_up(); }
    [[nodiscard]] error_code failure() const { return port_ ? port_->failure() : error_code{}; }
    [[nodiscard]] redis_port* port() noexcept { return port_.get(); }
    [[nodiscard]] double random_part() { return std::generate_canonical<double, 32>(jitter_); }
    void log(log_level level, std::string_view message) const;
    void on_context_gone() noexcept;

private:
    friend class context_service;

    client_state(asio::any_io_executor executor, config settings);

    void on_commands_up() override;
    void on_commands_down() override;
    void on_failure(error_code cause) override;
    void on_notices_up() override;
    void on_notices_down() override;
    void on_subscribed(std::string_view channel, bool again) override;
    void on_subscribe_refused(std::string_view channel, error_code cause) override;
    void on_notice(std::string_view channel) override;

    using strand_type = asio::strand<asio::any_io_executor>;
    using plain_waiters = std::vector<std::shared_ptr<pending_handler<error_code>>>;

    struct connection_waiter {
        std::function<void(error_code)> f;
        timer limit;
    };

    void start(port_factory const& make_port);
    void tell_connected(error_code ec);
    void end_all(error_code cause);
    void begin_shutdown();
    void finish_shutdown(bool all_released);
    void wait_in(
        plain_waiters client_state::* where,
        plain_handler handler,
        void (client_state::*then)()
    );
    void on_ready_asked();
    void tell(plain_waiters client_state::* where, error_code ec);
    void arm_keep_alives(time_point at);
    void start_keep_alives();

    asio::any_io_executor executor_;
    asio::any_io_executor strand_;
    std::shared_ptr<config const> settings_;
    std::shared_ptr<counters> count_;
    std::string client_id_;
    owner_table owners_;
    room_table rooms_;
    std::minstd_rand jitter_;
    std::unique_ptr<redis_port> port_;
    std::optional<timer> keep_alive_timer_;
    std::optional<timer> shutdown_timer_;
    std::unique_ptr<releaser> releaser_;
    std::list<std::shared_ptr<acquire_op>> singles_;
    boost::intrusive::list<grant> grants_;
    std::list<std::shared_ptr<connection_waiter>> connection_waiters_;
    plain_waiters ready_waiters_;
    plain_waiters shutdown_waiters_;
    context_service* service_ = nullptr;
    std::shared_ptr<client_state> self_;
    std::atomic<bool> gone_{false};
    bool rehearsed_ = false;
    bool keep_alives_armed_ = false;
    // The grants up to this time have a keep-alive.
    time_point kept_alive_until_ = time_point::min();
    bool stopping_ = false;
    bool stopped_ = false;
    error_code shutdown_result_;
};

/// Completes the operation at once with `operation_aborted` when it is cancelled, whatever the
/// type; what was begun goes on.
///
/// The slot holds no reference to the handler: the handler owns the slot, and they would keep each
/// other alive.
template <class... Results>
void abort_on_cancel(
    std::shared_ptr<pending_handler<error_code, Results...>> const& waiting,
    std::shared_ptr<client_state> const& client
) {
    waiting->on_cancel([weak = std::weak_ptr{waiting}, client](asio::cancellation_type type) {
        if (type == asio::cancellation_type::none) {
            return;
        }
        client->on_strand([weak] {
            if (auto const pending = weak.lock()) {
                pending->complete(asio::error::operation_aborted, Results{}...);
            }
        });
    });
}

}  // namespace holdfast::detail

#endif
