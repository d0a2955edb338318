#ifndef HOLDFAST_LEASE_SHARED_HOLD_HPP
#define HOLDFAST_LEASE_SHARED_HOLD_HPP

#include "core/sharing.hpp"
#include "lease/hold.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::detail {

class tenure;

/// A hold that several tenures have at a time. Each has its own times, and is renewed from its own
/// holder's executor; what one of them is granted, the server keeps for all.
///
/// Used on the client's strand.
class shared_hold final : public hold {
public:
    shared_hold(
        std::shared_ptr<client_context> client,
        std::shared_ptr<target const> on,
        holder_id const& id,
        hold_fsm const& fsm,
        detail::sharing const& with
    )
        : hold{std::move(client), std::move(on), id, fsm, true},
          sharing_{with} {}

    [[nodiscard]] detail::sharing& sharing() noexcept { return sharing_; }

    // For the hold.
    void add(std::shared_ptr<tenure> one);
    /// @returns it; nothing if it is not one of these.
    [[nodiscard]] std::shared_ptr<tenure> remove(tenure const& which) noexcept;
    [[nodiscard]] bool contains(tenure const& which) const noexcept;
    /// One of them; nothing if there is none.
    [[nodiscard]] std::shared_ptr<tenure> any() const noexcept;
    template <class F>
    void for_each(F f) const {
        for (auto const& one : tenures_) {
            f(*one);
        }
    }

private:
    detail::sharing sharing_;
    // In an order that does not depend on where they are in memory: runs can be repeated.
    std::vector<std::shared_ptr<tenure>> tenures_;
};

}  // namespace holdfast::detail

#endif
