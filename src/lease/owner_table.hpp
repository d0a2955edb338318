#ifndef HOLDFAST_LEASE_OWNER_TABLE_HPP
#define HOLDFAST_LEASE_OWNER_TABLE_HPP

#include "protocol/target.hpp"

#include <holdfast/owner.hpp>

#include <cstddef>
#include <optional>
#include <unordered_map>

namespace holdfast::detail {

class tenure;

/// One owner of one target.
struct owned {
    target_key on;
    owner who;

    friend bool operator==(owned const&, owned const&) = default;
};

struct owned_hash {
    std::size_t operator()(owned const& of) const noexcept {
        // The words are random already.
        return target_key_hash{}(of.on) ^ static_cast<std::size_t>(of.who.words()[0]);
    }
};

/// Who may re-enter: which tenure each owner has. Nothing is kept for grants without an owner. Used
/// on the client's strand.
class owner_table {
public:
    /// In the place of one that was lost and not yet released. `on` must be the tenure's own.
    void on_granted(target const& on, std::optional<owner> const& who, tenure& granted);
    void on_forgotten(target const& on, tenure const& of) noexcept;
    /// What the owner has, or nothing. It may be over already.
    [[nodiscard]] tenure* find(target_key const& on, owner const& who) const;
    void clear() noexcept;

private:
    // The names in the keys are those of the tenures' targets.
    std::unordered_map<owned, tenure*, owned_hash> tenures_;
    std::unordered_map<tenure const*, owner> owners_;
};

}  // namespace holdfast::detail

#endif
