#ifndef HOLDFAST_MULTI_LOCK_HPP
#define HOLDFAST_MULTI_LOCK_HPP

#include <holdfast/detail/acquire.hpp>
#include <holdfast/detail/multi_operations.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/multi_lease.hpp>

#include <concepts>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast {

/// Several locks that are acquired as one: all of them, or none.
///
///     holdfast::multi_lock both{client.lock("account:{}", from), client.lock("account:{}", to)};
///     auto lease = co_await both.acquire();
///
/// It has 2 to 64 members of any kind that is `lockable`, of one client or of several, and the
/// operations of a lock. A grant is a `multi_lease`, with a fencing token of each member. An
/// operation with fewer members, more, or two of one name on one server ends with
/// `errc::invalid_options`.
///
/// Where all members are of type `lock` and of one client, and all are free, one request takes them
/// all. Otherwise they are taken one by one, in an order that is the same in every process (by
/// name), so that two multi-locks never wait for each other; each waits in the queue of the member
/// that is its next one, and keeps those before. A program that holds a member by other means while
/// it acquires a multi-lock may wait for ever; so may one that holds a multi-lock and acquires
/// another: name all that is needed in one.
///
/// The options of an acquisition are those of each member. `max_hold`, `max_renewals` and `renew`
/// apply from the time when all are held; until then those that are held are renewed. With a false
/// `renew`, or `max_renewals`, the lease begins with its full length, less the time of one request:
/// members that were held for a while are renewed once more before the lease is delivered. A member
/// that is lost meanwhile is acquired again. With an `owner`, members that it holds already are
/// joined, out of that order; they keep the options of the owner's first lease.
///
/// `try_acquire()` is empty if any member is held by another, and `try_acquire_for()` if the time
/// is up and the server said since the operation began that another holder has one of them. An
/// answer that may still change this is waited for up to 100 ms longer, but no longer than one
/// request timeout: that of a member that is asked for, if none was busy so far, and that of a
/// renewal before the lease is delivered. Whenever an operation ends without a lease, all that it
/// had taken is given back in the background.
///
/// Members on different servers that have one name are ordered by `config::host` and
/// `config::port`: these should be the same text in every process then.
///
/// A multi-lock is a cheap value, like its members. The contexts of all members' clients must live
/// until the operation has completed. One that was moved from can only be destroyed or assigned to.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT multi_lock : public lockable<multi_lock, multi_lease> {
public:
    /// A lock of any kind.
    ///
    /// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and
    /// assignment.
    class member {
    public:
        /// Any type that is `lockable` and gives a `lease`.
        ///
        /// @par Errors   None.
        template <class Lock>
            requires std::derived_from<Lock, lockable<Lock>>
        member(Lock const& lock)  // implicit: a lock is a member
            : member{static_cast<lockable<Lock> const&>(lock).prepared()} {}

    private:
        friend struct detail::multi_members;
        member(detail::acquire_request&& of) noexcept
            : client_{std::move(of.client)},
              key_{std::move(of.key)} {}

        std::shared_ptr<detail::client_state> client_;
        std::shared_ptr<detail::target const> key_;
    };

    /// Of these members.
    ///
    /// @par Errors   `std::bad_alloc`. The operations report members that cannot be together.
    template <std::convertible_to<member> First, std::convertible_to<member>... Others>
        requires(sizeof...(Others) > 0)
    explicit multi_lock(First const& first, Others const&... others)
        : multi_lock{list_of(first, others...)} {}

    /// @{
    /// Of a list or another range of members, or of locks of one kind.
    ///
    /// @par Errors   `std::bad_alloc`. The operations report members that cannot be together.
    explicit multi_lock(std::vector<member> members);

    template <class Range>
        requires requires(Range const& all) {
            { *std::begin(all) } -> std::convertible_to<member>;
            std::end(all);
        }
    explicit multi_lock(Range const& members)
        : multi_lock{std::vector<member>(std::begin(members), std::end(members))} {}
    /// @}

private:
    friend class lockable<multi_lock, multi_lease>;

    template <class... Locks>
    static std::vector<member> list_of(Locks const&... locks) {
        std::vector<member> all;
        all.reserve(sizeof...(locks));
        (all.push_back(locks), ...);
        return all;
    }

    detail::multi_request request() const { return {members_}; }

    std::shared_ptr<detail::multi_members const> members_;
};

}  // namespace holdfast

#endif
