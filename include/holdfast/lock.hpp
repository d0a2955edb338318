#ifndef HOLDFAST_LOCK_HPP
#define HOLDFAST_LOCK_HPP

#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/named_lock.hpp>

#include <memory>
#include <string_view>

namespace holdfast {

/// A lock that at most one holder in all processes has at a time; compatible with Redisson's
/// `RLock` and `RFencedLock`.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT lock : public named_lock<lock> {
private:
    friend class client;
    lock(std::shared_ptr<detail::client_state> client, std::string_view name);
};

}  // namespace holdfast

#endif
