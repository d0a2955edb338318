#ifndef HOLDFAST_LEASE_TENURE_ENDS_HPP
#define HOLDFAST_LEASE_TENURE_ENDS_HPP

#include "core/lease_terms.hpp"
#include "runtime/client_context.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace holdfast::detail {

class tenure;

/// Watches tenures whose leases may end by themselves while their hold goes on: short leases over a
/// long hold. Used on the client's strand.
class tenure_ends {
public:
    /// `on_over` is told of each that has come to its deadline without a renewal.
    tenure_ends(client_context& client, std::function<void(tenure& of)> on_over)
        : client_{client},
          on_over_{std::move(on_over)} {}

    void watch(std::shared_ptr<tenure> const& which);
    void clear() noexcept;

private:
    void arm();
    void on_timer();

    client_context& client_;
    std::function<void(tenure&)> on_over_;
    std::multimap<time_point, std::weak_ptr<tenure>> ends_;
    std::optional<timer> timer_;
};

}  // namespace holdfast::detail

#endif
