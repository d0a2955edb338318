#ifndef HOLDFAST_TEST_INTEGRATION_MULTI_LOCK_FIXTURE_HPP
#define HOLDFAST_TEST_INTEGRATION_MULTI_LOCK_FIXTURE_HPP

#include "support/ended_acquire.hpp"
#include "support/gated_server.hpp"

#include <string>
#include <vector>

// What the tests of multi-locks share.
namespace holdfast::test {

using ended_multi = ended_acquire<multi_lease>;

/// The client has been granted a lock: what it needs is known to be allowed.
inline task get_to_know(holdfast::client& client) {
    auto lease = co_await client.lock("another").acquire();
    co_await lease.release();
}

inline multi_lock lock_of_all(holdfast::client& client, std::vector<std::string> const& names) {
    std::vector<multi_lock::member> members;
    for (auto const& name : names) {
        members.emplace_back(client.lock(name));
    }
    return multi_lock{members};
}

/// GCC 12 makes no list of names in a co_await expression.
template <class... Names>
multi_lock lock_of(holdfast::client& client, Names const&... names) {
    return lock_of_all(client, {names...});
}

}  // namespace holdfast::test

#endif
