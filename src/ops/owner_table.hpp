#ifndef HOLDFAST_OPS_OWNER_TABLE_HPP
#define HOLDFAST_OPS_OWNER_TABLE_HPP

#include <holdfast/owner.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::detail {

class acquire_op;
class grant;

/// Who may re-enter: which grant each owner has, and which acquisitions of one still wait. Nothing
/// is kept for acquisitions without an owner. Used on the client's strand.
class owner_table {
public:
    void on_enter(std::shared_ptr<acquire_op> const& op);
    void on_leave(acquire_op& op) noexcept;
    void on_granted(acquire_op const& op, grant& held);
    void on_forgotten(grant const& held) noexcept;

    /// What the owner of `op` holds of its lock, or nothing. It may be over already.
    [[nodiscard]] grant* held_by_owner_of(acquire_op const& op) const;
    /// The acquisitions of the same lock and owner that wait, in the order of their arrival.
    [[nodiscard]] std::vector<std::shared_ptr<acquire_op>> waiting_like(acquire_op const& op) const;

    void clear() noexcept;

private:
    struct identity_view {
        std::string_view lock;
        owner const& who;
    };
    struct identity {
        std::string lock;
        owner who;
        // NOLINTNEXTLINE(google-explicit-constructor): a look-up copies no name
        operator identity_view() const noexcept { return {lock, who}; }
    };
    struct hash {
        using is_transparent = void;
        std::size_t operator()(identity_view const& of) const noexcept;
    };
    struct equal {
        using is_transparent = void;
        bool operator()(identity_view const& a, identity_view const& b) const noexcept {
            return a.who == b.who && a.lock == b.lock;
        }
    };
    struct entry {
        grant* held = nullptr;
        // Weak, so that an acquisition that could not be listed elsewhere does no harm here.
        std::list<std::weak_ptr<acquire_op>> waiting;
    };
    using entries = std::unordered_map<identity, entry, hash, equal>;

    static identity_view identity_of(acquire_op const& op) noexcept;
    entry& entry_of(acquire_op const& op);
    void tidy(entries::iterator at) noexcept;

    entries entries_;
    std::unordered_map<grant const*, owner> owner_of_;
};

}  // namespace holdfast::detail

#endif
