#ifndef HOLDFAST_TEST_SOAK_ACCOUNT_HPP
#define HOLDFAST_TEST_SOAK_ACCOUNT_HPP

#include "soak/history.hpp"

#include <holdfast/error.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/leadership.hpp>
#include <holdfast/lease_state.hpp>

#include <cstdint>
#include <string_view>

namespace holdfast::soak {

/// This instant, as histories have it.
[[nodiscard]] instant now();

/// A lease of any kind, as it is at an instant.
struct lease_view {
    instant at;
    bool valid;
    instant deadline;
    lease_state state;
    loss_reason loss;
    std::int64_t token;
};

template <class Lease>
fencing_token token_of(Lease const& held) {
    return held.token();
}
inline fencing_token token_of(leadership const& held) {
    return held.term();
}

/// The clock is read before the lease is asked.
template <class Lease>
lease_view view_of(Lease const& held) {
    auto const at = now();
    return {
        .at = at,
        .valid = held.valid(),
        .deadline = held.deadline().time_since_epoch().count(),
        .state = held.state(),
        .loss = held.loss(),
        .token = static_cast<std::int64_t>(token_of(held).value),
    };
}

/// What a worker writes down about one acquisition and its lease. A cheap value; the history must
/// outlive it.
class account {
public:
    account(history_file& history, std::int64_t process, std::int64_t op, std::int64_t lock)
        : history_{&history},
          process_{process},
          op_{op},
          lock_{lock} {}

    void invoke(
        std::string_view way,
        std::int64_t limit_ns,
        std::int64_t owner,
        std::int64_t permits = 0
    ) const;
    template <class Lease>
    void granted(Lease const& held) {
        granted(view_of(held));
    }
    void granted(lease_view const& held);
    void no_lease(std::string_view why) const;
    void failed(error_code why) const;
    /// Writes the deadline down if it has moved, and whether the lease is valid when it must not
    /// be.
    template <class Lease>
    void look(Lease const& held) {
        look(view_of(held));
    }
    void look(lease_view const& held);
    void renew() const;
    void renewed(error_code result) const;
    void lost(loss_reason why) const;
    /// The holder, who has no watcher, sees that it is lost. Once.
    template <class Lease>
    void find_out(Lease const& held) {
        find_out(view_of(held));
    }
    void find_out(lease_view const& held);
    template <class Lease>
    void releasing(Lease const& held) const {
        releasing(view_of(held));
    }
    void releasing(lease_view const& held) const;
    void released(error_code result) const;

    [[nodiscard]] std::int64_t process() const { return process_; }
    [[nodiscard]] std::int64_t op() const { return op_; }
    [[nodiscard]] std::int64_t lock() const { return lock_; }
    [[nodiscard]] std::int64_t token() const { return token_; }

private:
    [[nodiscard]] event make(happening what) const;

    history_file* history_;
    std::int64_t process_;
    std::int64_t op_;
    std::int64_t lock_;
    std::int64_t token_ = 0;
    instant deadline_ = 0;
    bool knows_ = false;
};

}  // namespace holdfast::soak

#endif
