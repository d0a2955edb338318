#ifndef HOLDFAST_TEST_SOAK_ACCOUNT_HPP
#define HOLDFAST_TEST_SOAK_ACCOUNT_HPP

#include "soak/cell_options.hpp"

#include <holdfast/error.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/leadership.hpp>
#include <holdfast/lease_state.hpp>
#include <holdfast/multi_lease.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace holdfast::soak {

/// This instant, as histories have it.
[[nodiscard]] instant now();

/// A lease of any kind, as it is at an instant.
struct lease_view {
    instant at;
    bool valid;
    instant deadline;
    std::int64_t token;
};

template <class Lease>
fencing_token token_of(Lease const& held) {
    return held.token();
}
inline fencing_token token_of(leadership const& held) {
    return held.term();
}

inline fencing_token token_of(multi_lease const& held) {
    return held.token(0);
}

/// The clock is read before the lease is asked.
template <class Lease>
lease_view view_of(Lease const& held) {
    auto const at = now();
    return {
        .at = at,
        .valid = held.valid(),
        .deadline = held.deadline().time_since_epoch().count(),
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
    void no_lease(std::string_view why) const { note(happening::no_lease, why); }
    void failed(error_code why) const { note(happening::failed, why); }
    /// Writes the deadline down if it has moved, and whether the lease is valid when it must not
    /// be.
    template <class Lease>
    void look(Lease const& held) {
        look(view_of(held));
    }
    void look(lease_view const& held);
    void renew() const { note(happening::renew, ""); }
    void renewed(error_code result) const { note(happening::renewed, result); }
    void lost(loss_reason why) const { note(happening::lost, to_string(why)); }
    /// The holder, who has no watcher, sees that it is lost. Once.
    template <class Lease>
    void find_out(Lease const& held) {
        if (held.state() == lease_state::lost && !std::exchange(knows_, true)) {
            lost(held.loss());
        }
    }
    template <class Lease>
    void releasing(Lease const& held) const {
        auto const deadline = view_of(held).deadline;
        auto e = make(happening::releasing);
        e.deadline = deadline;
        history_->add(e);
    }
    void released(error_code result) const { note(happening::released, result); }

    [[nodiscard]] std::int64_t process() const { return process_; }
    [[nodiscard]] std::int64_t op() const { return op_; }
    [[nodiscard]] std::int64_t lock() const { return lock_; }
    [[nodiscard]] std::int64_t token() const { return token_; }

private:
    [[nodiscard]] event make(happening what) const;
    void note(happening what, std::string_view word) const;
    void note(happening what, error_code result) const;

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
