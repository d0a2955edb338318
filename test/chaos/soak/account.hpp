#ifndef HOLDFAST_TEST_SOAK_ACCOUNT_HPP
#define HOLDFAST_TEST_SOAK_ACCOUNT_HPP

#include "soak/history.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>

#include <cstdint>
#include <string_view>

namespace holdfast::soak {

/// What a worker writes down about one acquisition and its lease. A cheap value; the history must
/// outlive it.
class account {
public:
    account(history_file& history, std::int64_t process, std::int64_t op, std::int64_t lock)
        : history_{&history},
          process_{process},
          op_{op},
          lock_{lock} {}

    void invoke(std::string_view way, std::int64_t limit_ns, std::int64_t owner) const;
    void granted(lease const& held);
    void no_lease(std::string_view why) const;
    void failed(error_code why) const;
    /// Writes the deadline down if it has moved, and whether the lease is valid when it must not
    /// be.
    void look(lease const& held);
    void renew() const;
    void renewed(error_code result) const;
    void lost(loss_reason why) const;
    /// The holder, who has no watcher, sees that it is lost. Once.
    void find_out(lease const& held);
    void releasing(lease const& held) const;
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

/// This instant, as histories have it.
[[nodiscard]] instant now();

}  // namespace holdfast::soak

#endif
