#ifndef HOLDFAST_CORE_SERVER_IDENTITY_HPP
#define HOLDFAST_CORE_SERVER_IDENTITY_HPP

#include "core/lease_terms.hpp"

#include <string>
#include <string_view>

namespace holdfast::detail {

/// Which server a client is connected to, and since when it is another one than before. After a
/// failover, or another start of a server, what it was told may be gone.
class server_identity {
public:
    /// A connection is up to the server with this run id; empty if it is not known, and then
    /// nothing is concluded. @returns whether it is another server than the one before.
    bool on_connected(std::string_view run_id, time_point now) {
        if (run_id.empty() || run_id == run_id_) {
            return false;
        }
        bool const changed = !run_id_.empty();
        run_id_ = run_id;
        if (changed) {
            changed_at_ = now;
        }
        return changed;
    }

    /// It is another server than before, whatever its run id: it has another one's keys now.
    void on_replaced(time_point now) { changed_at_ = now; }

    /// What a server confirmed to a request that was sent before this is what another server said.
    [[nodiscard]] time_point changed_at() const noexcept { return changed_at_; }

private:
    std::string run_id_;
    time_point changed_at_ = time_point::min();
};

}  // namespace holdfast::detail

#endif
