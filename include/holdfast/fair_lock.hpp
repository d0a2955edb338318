#ifndef HOLDFAST_FAIR_LOCK_HPP
#define HOLDFAST_FAIR_LOCK_HPP

#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/named_lock.hpp>

#include <memory>
#include <string_view>

namespace holdfast {

/// A lock that is granted in the order in which the attempts reach the server, whichever process
/// they come from; compatible with Redisson's `RFairLock`.
///
/// A `lock` is fair among C++ programs, and faster: it has one place in the server's queue for all
/// waiters of a client, and passes from holder to holder. A fair lock has a place for each waiter,
/// is asked for after each release, and each waiter is heard of some times a second
/// (`config::waiter_patience`). It is for locks that Java programs share through `RFairLock`,
/// and for work whose order matters.
///
/// A waiter loses its place when it was silent for too long, as after a connection was down, and
/// then takes the last one. `try_acquire()` never has a place, and gets nothing while somebody
/// waits.
///
/// A `lock` and a fair lock of one name exclude each other, and do not wake each other: use one
/// kind for a name.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT fair_lock : public named_lock<fair_lock> {
private:
    friend class client;
    fair_lock(std::shared_ptr<detail::client_state> client, std::string_view name);
};

}  // namespace holdfast

#endif
