#ifndef HOLDFAST_SEMAPHORE_HPP
#define HOLDFAST_SEMAPHORE_HPP

#include <holdfast/detail/acquire.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/lock_operations.hpp>
#include <holdfast/detail/semaphore_operations.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/semaphore_info.hpp>

#include <boost/asio/deferred.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// So many permits, which holders in any process share; compatible with Redisson's
/// `RPermitExpirableSemaphore`.
///
/// `acquire()` and its like take one permit, and those of `permits(5)` five together: all of them
/// or none. What they give is one lease, which is renewed and can be lost as that of a lock. The
/// permits of a holder that died come back when its lease ends.
///
/// The server keeps the number of permits, the limit. A handle that states it, `limit(5)`, sets it
/// where it is missing: for the first acquisition, and after the server lost all its data. The
/// limit can also be set by `try_set_permits()` or by a Java program. Without a number on the
/// server, acquisitions through handles that do not state one end with `errc::permits_not_set`. An
/// acquisition that wants more permits than there are ends with `errc::invalid_options`.
///
/// If the server has another limit than a handle states, the server's limit applies, and the client
/// logs one warning for this name. If the server loses which permits are acquired, but not all it
/// knows of the semaphore, those permits stay unavailable until the longest lease granted so far
/// has passed; then the client that frees them logs a warning. A limit that a Java program or an
/// operator lowers while no permit is acquired looks like such a loss, and is raised again.
///
/// Those who wait get their permits in order of arrival, over all processes: a waiter for five
/// permits is not passed by those who want one. A client has one place in the server's queue for
/// each number of permits that its operations wait for, and keeps it by asking again
/// (`config::waiter_patience`); after a grant its next waiter takes the last place. `try_acquire()`
/// gets nothing while somebody waits. Waiters of Java programs have no places: whoever asks first
/// gets what is free.
///
/// Each grant has a fencing token. Those of holders at the same time differ, and grow in the order
/// of the grants. A resource that accepts only tokens that grow would refuse the older of two valid
/// holders: it has to know which ones ended.
///
/// A semaphore is a cheap value: a shared pointer to the client, a name and a number. Making one
/// does no I/O and never fails; the operations report a wrong name or number. An owner (see
/// `acquire_options::owner`) that acquires again, with the same number of permits, shares the
/// permits that it has.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT semaphore : public lockable<semaphore> {
public:
    /// The same semaphore, whose acquisitions take so many permits together: 1 to 1000, and no more
    /// than there are; otherwise they end with `errc::invalid_options`. It is a lock-like type too:
    /// `with_lease(pool.permits(5), body)`.
    ///
    /// @par Errors   `std::bad_alloc`. The operations report a wrong number.
    [[nodiscard]] semaphore permits(std::int64_t count) const;

    /// The same semaphore, whose acquisitions state how many permits there are: 1 to 2147483647;
    /// otherwise they end with `errc::invalid_options`. An acquisition sets this number if the
    /// server has none, and changes nothing otherwise. Acquisitions through different handles wait
    /// together: an attempt states the number of the first waiter that has one. It composes with
    /// `permits()`: `pool.limit(5).permits(2)`.
    ///
    /// @par Errors   `std::bad_alloc`. The operations report a wrong number.
    [[nodiscard]] semaphore limit(std::int64_t count) const;

    /// Sets the number of permits if the server has none: 1 to 2147483647. A program that does not
    /// state the number with `limit()` calls it at startup.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True: the number was set now. False: the semaphore already had this number.
    /// `errc::limit_mismatch`: it has another number; nothing was changed.
    /// @par Cancellation   All types complete at once. It may be set all the same.
    /// @par Lifetimes      The semaphore may be destroyed meanwhile.
    /// @par Errors
    /// `errc::invalid_options` if the number is out of range; else as `inspect()`.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_set_permits(std::int64_t limit, Token&& token = Token()) const {
        return ask<Token, void(error_code, bool), &detail::start_try_set_permits>(token, limit);
    }

    /// Asks the server how many permits can be had now. The answer may be outdated when it arrives.
    ///
    /// @par Completion     `void(error_code, std::int64_t)`
    /// Zero if the server has no number of permits. See `semaphore_info::available`.
    /// @par Cancellation, lifetimes, errors    As `inspect()`.
    template <detail::token_for<void(error_code, std::int64_t)> Token = asio::deferred_t>
    [[nodiscard]] auto available(Token&& token = Token()) const {
        return ask<Token, void(error_code, std::int64_t), &detail::start_count_available>(token);
    }

    /// Asks the server how many permits there are and who waits. For operators and tests: the
    /// answer may be outdated when it arrives.
    ///
    /// @par Completion     `void(error_code, semaphore_info)`
    /// On error the `semaphore_info` has no meaning.
    /// @par Cancellation   All types complete at once. The operation changes nothing.
    /// @par Lifetimes      The semaphore may be destroyed meanwhile.
    /// @par Errors
    /// `errc::corrupt_state` if a key holds something else; `errc::unreachable`,
    /// `errc::server_refused` if there is no answer within a request time-out;
    /// `errc::invalid_name`; the permanent causes; `errc::client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code, semaphore_info)> Token = asio::deferred_t>
    [[nodiscard]] auto inspect(Token&& token = Token()) const {
        return ask<Token, void(error_code, semaphore_info), &detail::start_inspect_semaphore>(token
        );
    }

    /// Takes all permits away from whoever holds them, Java programs included, and wakes those who
    /// wait. The holders learn of it at their next renewal; until then more may act than there are
    /// permits. For operators; nothing in this library calls it.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True if somebody held a permit. A key that holds something else is not touched:
    /// `errc::corrupt_state`.
    /// @par Cancellation   All types complete at once. The permits may be freed all the same.
    /// @par Lifetimes, errors    As `inspect()`.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto force_release(Token&& token = Token()) const {
        return ask<Token, void(error_code, bool), &detail::start_force_release>(token);
    }

    /// The name that the semaphore has on the server: prefix and name; empty if the name is wrong
    /// (see `errc::invalid_name`). Valid as long as a copy of the semaphore exists.
    [[nodiscard]] std::string const& name() const noexcept { return detail::name_of(*key_); }

private:
    friend class client;
    friend class lockable<semaphore>;
    semaphore(std::shared_ptr<detail::client_state> client, std::string_view name);
    semaphore(
        std::shared_ptr<detail::client_state> client,
        std::shared_ptr<detail::target const> key
    ) noexcept
        : client_{std::move(client)},
          key_{std::move(key)} {}

    detail::acquire_request request() const { return {client_, key_}; }

    template <class Token, class Signature, auto Start, class... Arguments>
    auto ask(Token& token, Arguments... arguments) const {
        return detail::initiate<Token, Signature, Start>(
            token,
            this->get_executor(),
            client_,
            key_,
            arguments...
        );
    }

    std::shared_ptr<detail::client_state> client_;
    std::shared_ptr<detail::target const> key_;
};

}  // namespace holdfast

#endif
