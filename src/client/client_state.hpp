#ifndef HOLDFAST_CLIENT_CLIENT_STATE_HPP
#define HOLDFAST_CLIENT_CLIENT_STATE_HPP

#include "acquire/acquisitions.hpp"
#include "client/connection_waiters.hpp"
#include "client/counting.hpp"
#include "client/elections.hpp"
#include "client/grant_delay.hpp"
#include "core/repetition.hpp"
#include "lease/holds.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/client.hpp>
#include <holdfast/client_status.hpp>
#include <holdfast/config.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::detail {

class context_service;

/// Everything that the handles of one client share: its wiring, its beginning and its end. Used on
/// its strand, except where it says otherwise.
class client_state final : public client_context, private backend_events {
public:
    using backend_factory = std::function<std::unique_ptr<
        backend>(asio::any_io_executor strand, std::shared_ptr<config const>, std::shared_ptr<counters>)>;

    /// @throws std::invalid_argument for a wrong configuration.
    static std::shared_ptr<client_state> make(
        asio::any_io_executor executor,
        config settings,
        backend_factory const& make_backend
    );
    ~client_state() override;

    // From any thread.
    [[nodiscard]] stats snapshot() const noexcept { return count().snapshot(); }
    [[nodiscard]] client_status status() const;
    /// The target of a handle, made of this name behind the prefix. Where that is no name of a
    /// lock, the target is not valid, and the log says why.
    [[nodiscard]] std::shared_ptr<target const> checked(target made, std::string_view name);
    void report_name(std::string_view name);
    void ready(plain_handler handler);
    void shutdown(plain_handler handler);
    /// Refuses acquisitions from now on, waits for the holders for so long, and shuts down.
    void drain(nanos timeout, plain_handler handler);
    /// From the destructor of the handle.
    void abandon() noexcept;

    /// From any thread. See `place_of`.
    [[nodiscard]] std::string const& place() const noexcept { return place_; }
    [[nodiscard]] std::shared_ptr<client_state> self() {
        return std::static_pointer_cast<client_state>(shared_from_this());
    }
    [[nodiscard]] acquisitions& acquires() noexcept { return acquisitions_; }
    [[nodiscard]] connection_waiters& connecting() noexcept { return connecting_; }
    [[nodiscard]] elections& electing() noexcept { return electing_; }
    [[nodiscard]] counting& numbers() noexcept { return numbers_; }
    /// New operations are refused.
    [[nodiscard]] bool stopping() const noexcept { return stopping_ || in_forked_child(); }
    /// Nothing is sent any more.
    [[nodiscard]] bool stopped() const noexcept { return stopped_ || in_forked_child(); }
    void on_context_gone() noexcept;

private:
    using plain_waiters = std::vector<std::shared_ptr<pending_handler<error_code>>>;

    client_state(asio::any_io_executor executor, config settings);

    void on_up(connection_id which) override;
    void on_down(connection_id which) override;
    void on_failure(connection_id which, error_code cause) override;
    void on_unconnected(connection_id which, error_code cause, std::string_view text) override;
    void on_refused(refusal const& what) override;
    void on_moved(std::function<bool(std::string_view key)> const& these) override;
    void on_changed() override;
    void on_failed_over(std::uint32_t server) override;
    void on_closed(std::uint32_t server) override;
    void on_forgotten(std::uint32_t server) override;
    [[nodiscard]] bool has_leases() const override { return !holds_.empty(); }

    void start(backend_factory const& make_backend);
    void start_backend();
    [[nodiscard]] bool all_up() const;
    void note_state(connection_state now);
    void note_error(error_code cause, std::string_view text);
    void log_out_of_reach(error_code cause);
    [[nodiscard]] grant_delay& delay(std::uint32_t server);
    void on_grants_possible(some const& those);
    void clear_delays() noexcept;
    void wait_in(
        plain_waiters client_state::* where,
        plain_handler handler,
        std::function<void()> then
    );
    void on_ready_asked();
    void tell(plain_waiters client_state::* where, error_code ec);
    void end_all(error_code cause);
    void end_all(error_code cause, some const& those);
    void begin_drain(nanos timeout);
    void begin_shutdown();
    [[nodiscard]] bool idle();
    void on_idle();
    void finish_shutdown();

    std::string place_;
    holds holds_;
    acquisitions acquisitions_;
    connection_waiters connecting_;
    elections electing_;
    counting numbers_;
    mutable std::mutex status_mutex_;
    client_status status_{
        .since = lease_clock::now(),
        .last_error_text = "no attempt to connect has ended yet",
    };
    // About acquisitions that wait for a connection.
    repetition stranded_;
    std::map<std::uint32_t, std::shared_ptr<grant_delay>> delays_;  // by the server's number
    // Those that are up.
    std::vector<observer::connection> connections_;
    plain_waiters ready_waiters_;
    plain_waiters shutdown_waiters_;
    std::optional<timer> end_timer_;
    context_service* service_ = nullptr;
    // Keeps a client that could not be shut down for lack of memory until its context ends.
    std::shared_ptr<client_context> self_;
    bool draining_ = false;
    bool stopping_ = false;
    bool stopped_ = false;
    error_code shutdown_result_;
};

}  // namespace holdfast::detail

#endif
