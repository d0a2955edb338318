#ifndef HOLDFAST_LEADERSHIP_HPP
#define HOLDFAST_LEADERSHIP_HPP

#include <holdfast/detail/election_operations.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lease_clock.hpp>
#include <holdfast/lease_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// The right to lead until a deadline. It stands on a `lease`, and everything that `lease` says of
/// renewal, of loss and of mutual exclusion holds here: a leader asks `valid()` before it acts, and
/// shows `term()` to the stores that it writes to.
///
/// When a leadership goes out of scope, the client resigns in the background: the destructor
/// neither blocks nor throws.
///
/// @par Thread safety
/// `valid`, `state`, `loss`, `term`, `deadline`, `remaining` and the conversion to `bool` may be
/// called from any thread, also while an operation runs. Everything else: distinct objects safe,
/// shared objects unsafe. The operations may be started from any thread.
class [[nodiscard]] HOLDFAST_EXPORT leadership {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the client: a handler of `resign()` or `proclaim()` that has no executor of
    /// its own is called there. The `asio::system_executor` if there is no client.
    [[nodiscard]] executor_type get_executor() const noexcept { return lease_.get_executor(); }

    /// Nobody's.
    leadership() noexcept = default;

    /// @{
    /// A leadership can be moved, not copied. One that was moved from is empty. Assignment first
    /// resigns the old one in the background, as the destructor does.
    leadership(leadership&& other) noexcept = default;
    leadership& operator=(leadership&& other) noexcept = default;
    leadership(leadership const&) = delete;
    leadership& operator=(leadership const&) = delete;
    ~leadership() = default;
    /// @}

    /// @{
    /// Whether there is one at all: won and not resigned. A lost one counts; see `valid()`. A
    /// temporary cannot be asked.
    [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(lease_); }
    explicit operator bool() const&& = delete;
    /// @}

    /// @{
    /// Whether the leader may act now. Computed from the clock at each call; once false, it stays
    /// false. A temporary cannot be asked.
    [[nodiscard]] bool valid() const& noexcept { return lease_.valid(); }
    bool valid() const&& = delete;
    /// @}

    /// The fencing token: no other leader of this election has it, and later ones have greater
    /// ones. It stays after `resign()`. Zero if there was no leadership.
    [[nodiscard]] fencing_token term() const noexcept { return lease_.token(); }

    /// As `lease::state()`.
    [[nodiscard]] lease_state state() const noexcept { return lease_.state(); }

    /// As `lease::loss()`.
    [[nodiscard]] loss_reason loss() const noexcept { return lease_.loss(); }

    /// The time at which somebody else may lead. See `lease::deadline()`.
    [[nodiscard]] lease_clock::time_point deadline() const noexcept { return lease_.deadline(); }

    /// The time until `deadline()`; never negative.
    [[nodiscard]] lease_clock::duration remaining() const noexcept { return lease_.remaining(); }

    /// Steps down: the lock goes to the next candidate. The leadership is empty as soon as the
    /// operation starts.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation
    /// All types complete at once with `operation_aborted`. The resignation goes on in the
    /// background.
    /// @par Lifetimes      The leadership may be moved or destroyed meanwhile.
    /// @par Errors         As `lease::release()`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto resign(Token&& token = Token()) {
        leads_.reset();
        return lease_.release(std::forward<Token>(token));
    }

    /// Proclaims another value in the same term, of any bytes up to 64 KiB. Observers are told of
    /// it like of a new leader. The request is repeated until it is answered, for as long as
    /// `config::lease` says. Of several that are under way the one that was started last stands in
    /// the end.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation
    /// All types complete at once with `operation_aborted`. The request goes on in the background.
    /// @par Lifetimes      The leadership may be moved or destroyed meanwhile.
    /// @par Errors
    /// `errc::not_held` if there is no leadership; `errc::lease_lost` if somebody else leads, or
    /// nobody; `errc::invalid_options` if the value is too long; `errc::corrupt_state` if the key
    /// of the leader holds something else; `errc::release_unknown`: it was sent and not answered
    /// in all that time, and observers may see it; `errc::unreachable`, `errc::server_refused`:
    /// they will not, unless the connection is made again while this leads;
    /// `errc::too_many_waiters`; the permanent causes; `errc::client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto proclaim(std::string_view value, Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_proclaim>(
            token,
            get_executor(),
            leads_,
            std::string{value}
        );
    }

    /// Waits until the leadership is lost.
    ///
    /// @par Completion     `void(error_code, loss_reason)`
    /// Success: it is lost for the given reason. See `lease::wait_lost()`.
    /// @par Cancellation   All types complete at once. The leadership is not affected.
    /// @par Lifetimes      The leadership may be moved or destroyed meanwhile. Its end by
    /// `resign()`, and so its destruction, ends the wait.
    /// @par Errors         `errc::not_held` if it is empty or ended by `resign()`;
    /// `operation_aborted`.
    template <detail::token_for<void(error_code, loss_reason)> Token = asio::deferred_t>
    [[nodiscard]] auto wait_lost(Token&& token = Token()) {
        return lease_.wait_lost(std::forward<Token>(token));
    }

private:
    friend struct detail::campaign_access;
    friend struct detail::lease_access;
    leadership(lease held, std::shared_ptr<detail::mandate> leads) noexcept
        : lease_{std::move(held)},
          leads_{std::move(leads)} {}

    lease lease_;
    std::shared_ptr<detail::mandate> leads_;
};

}  // namespace holdfast

#endif
