#ifndef HOLDFAST_QUORUM_LOCK_HPP
#define HOLDFAST_QUORUM_LOCK_HPP

#include <holdfast/detail/quorum_operations.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/quorum_lease.hpp>

#include <concepts>
#include <iterator>
#include <memory>
#include <vector>

namespace holdfast {

/// One lock on several independent servers: a client holds it if it has a majority of them. It
/// stays available, and exclusive, while a minority of the servers are down, cannot be reached or
/// have lost their data. (S. Sanfilippo's Redlock, with fencing tokens and restart detection.)
///
///     holdfast::quorum_lock lock{a.lock("orders"), b.lock("orders"), c.lock("orders")};
///     auto lease = co_await lock.acquire();
///     co_await store.write(order, lease.token());
///
/// It has 3 to 9 nodes: the locks of one name of as many clients, each of a server of its own that
/// replicates to no other of them. Of five nodes two may fail, of three one; an even number is
/// allowed and survives no more failures than one node less. All processes must name the same
/// nodes. A node is one server, a server that Sentinels name, or a `testing::memory_server`. An
/// operation with fewer nodes, more, different names, two nodes on one server, or a node that is a
/// Redis Cluster ends with `errc::invalid_options`. Two addresses of one server are noticed when
/// both are connected.
///
/// An attempt asks all nodes at once. It is decided when a majority have granted the lock, so that
/// slow or dead nodes cost no time; those that answer later join the lease, see `quorum_lease`.
/// Each node's lease counts from before its request was sent, less the drift allowance, and the
/// lock is held until fewer than a majority of them are valid. If no majority grants it, all that
/// was granted is given back. An attempt that finds the lock held waits for notifications of any
/// node, or for the end of the holder's leases. Waiters of one process stand in line, and the first
/// one tries. Waiters of different processes try at the same time, and the nodes decide; who gets
/// no majority tries again after a random pause. There is no order among processes.
///
/// The fencing token grows with every grant: it is not given out before a majority of the nodes
/// know it. That needs no second round trip as long as the servers' clocks agree within 100 ms.
///
/// A node that was restarted may have forgotten whom it granted the lock to, and could grant it a
/// second time. So it is left out for `config::restart_delay`, one lease unless that is set: what
/// it had granted has ended by then. Recognised is every start of a server's process, whether its
/// data are there again or not. A client that has seen the node's former process counts from the
/// moment when it first saw the new one, or by the node's `uptime_in_seconds`, whichever time is
/// shorter. A client that has not seen the former one has only the uptime, which follows the node's
/// wall clock. That is right if the clock does not step by more than a lease between the start of
/// the node and its first vote. No lock can be had in the first moments of a group of new servers.
/// A user who may not use `INFO` sees a start in each new connection. Not recognised is what
/// happens to the data of a running process: `FLUSHALL`, a key that was deleted, eviction, or a
/// replica that takes over a node's address. Nodes should have no replicas, and `noeviction`. Their
/// clocks must not be set forward by more than the drift allowance: that ends leases early.
///
/// `try_acquire()` gives an empty lease if a majority of the nodes answers and other holders have
/// the lock on too many of them. If fewer than a majority answer, no lock is granted: `acquire()`
/// waits for the nodes, and `try_acquire_for()` ends with `errc::quorum_not_reached`. So does
/// `try_acquire()`, within one request time-out. Permanent causes, such as `errc::auth_failed`, end
/// an operation when they leave too few nodes.
///
/// The options of an acquisition are those of each node's lease. A learned lease and `orphan_after`
/// are `errc::invalid_options` here. An `owner` that holds the lock enters again with a lease of
/// its own; its token may be greater than the first one's, and is never less. A store that has seen
/// the greater one refuses the other.
///
/// On each node the lock excludes a `lock` of the same name there, and Redisson's. There is no
/// semaphore on a quorum: pairs of holders may have different majorities, and so more holders in
/// all than there are permits. There is no read/write lock either: the nodes have no common queue
/// in which a writer could wait, and readers that come and go on majorities of their own would keep
/// it waiting for ever.
///
/// A quorum lock is a cheap value, like its nodes' locks. The contexts of all nodes' clients must
/// live until the operation has completed. One that was moved from can only be destroyed or
/// assigned to.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT quorum_lock : public lockable<quorum_lock, quorum_lease> {
public:
    /// On these nodes.
    ///
    /// @par Errors   `std::bad_alloc`. The operations report nodes that cannot be together.
    template <std::same_as<lock>... Others>
        requires(sizeof...(Others) > 0)
    explicit quorum_lock(lock const& first, Others const&... others)
        : quorum_lock{std::vector<lock>{first, others...}} {}

    /// @{
    /// On the nodes of a list, or of another range of locks.
    ///
    /// @par Errors   `std::bad_alloc`. The operations report nodes that cannot be together.
    explicit quorum_lock(std::vector<lock> const& nodes);

    template <class Range>
        requires requires(Range const& all) {
            { *std::begin(all) } -> std::convertible_to<lock const&>;
            std::end(all);
        }
    explicit quorum_lock(Range const& nodes)
        : quorum_lock{std::vector<lock>(std::begin(nodes), std::end(nodes))} {}
    /// @}

private:
    friend class lockable<quorum_lock, quorum_lease>;

    detail::quorum_request request() const { return {members_}; }

    std::shared_ptr<detail::quorum_members const> members_;
};

}  // namespace holdfast

#endif
