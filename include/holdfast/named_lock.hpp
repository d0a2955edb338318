#ifndef HOLDFAST_NAMED_LOCK_HPP
#define HOLDFAST_NAMED_LOCK_HPP

#include <holdfast/detail/acquire.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/lock_operations.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/lockable.hpp>

#include <boost/asio/deferred.hpp>

#include <memory>
#include <string>
#include <utility>

namespace holdfast {

/// The operations of a lock-like type that is one thing on the server, with a name. They are
/// members of `lock`, `fair_lock` and the sides of a `read_write_lock`.
///
/// Such a lock is a cheap value: a shared pointer to the client and a name. Making one does no I/O
/// and never fails; the operations report a wrong name. It is not re-entrant: a second `acquire` by
/// the same coroutine waits for the first lease, unless both name the same
/// `acquire_options::owner`. One that was moved from can only be destroyed or assigned to.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
template <class Derived>
class named_lock : public lockable<Derived> {
public:
    /// Asks the server who holds the lock. For operators and tests: the answer may be outdated when
    /// it arrives.
    ///
    /// @par Completion     `void(error_code, lock_info)`
    /// On error the `lock_info` has no meaning.
    /// @par Cancellation   All types complete at once. The operation changes nothing.
    /// @par Lifetimes      The lock may be destroyed meanwhile.
    /// @par Errors
    /// `errc::corrupt_state` if the key holds something else; `errc::unreachable`,
    /// `errc::server_refused` if there is no answer within a request time-out;
    /// `errc::invalid_name`; the permanent causes; `errc::client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code, lock_info)> Token = asio::deferred_t>
    [[nodiscard]] auto inspect(Token&& token = Token()) const {
        return detail::initiate<Token, void(error_code, lock_info), &detail::start_inspect>(
            token,
            this->get_executor(),
            client_,
            key_
        );
    }

    /// Takes the lock away from whoever holds it and wakes a waiter. The holder learns of it at its
    /// next renewal; until then two holders may act. For operators; nothing in this library calls
    /// it.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True if somebody held the lock. A key that is not a lock is not touched:
    /// `errc::corrupt_state`.
    /// @par Cancellation   All types complete at once. The lock may be freed all the same.
    /// @par Lifetimes, errors    As `inspect()`.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto force_release(Token&& token = Token()) const {
        return detail::initiate<Token, void(error_code, bool), &detail::start_force_release>(
            token,
            this->get_executor(),
            client_,
            key_
        );
    }

    /// The name that the lock has on the server: prefix and name; empty if the name is wrong (see
    /// `errc::invalid_name`). Valid as long as a copy of the lock exists.
    [[nodiscard]] std::string const& name() const noexcept { return detail::name_of(*key_); }

private:
    friend Derived;
    friend class lockable<Derived>;
    named_lock(
        std::shared_ptr<detail::client_state> client,
        std::shared_ptr<detail::target const> key
    ) noexcept
        : client_{std::move(client)},
          key_{std::move(key)} {}

    detail::acquire_request request() const { return {client_, key_}; }

    std::shared_ptr<detail::client_state> client_;
    std::shared_ptr<detail::target const> key_;
};

}  // namespace holdfast

#endif
