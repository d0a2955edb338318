#ifndef HOLDFAST_OPS_OWNER_TABLE_HPP
#define HOLDFAST_OPS_OWNER_TABLE_HPP

#include <holdfast/owner.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::detail {

class acquire_op;
class grant;

/// Who may re-enter: which grant each owner has, and which acquisitions of one still wait. Nothing
/// is kept for acquisitions without an owner. Used on the client's strand.
class owner_table {
public:
    void on_enter(acquire_op& op);
    void on_leave(acquire_op& op) noexcept;
    void on_granted(acquire_op const& op, grant& held);
    void on_forgotten(grant const& held) noexcept;

    /// What the owner of `op` holds of its lock, or nothing. It may be over already.
    [[nodiscard]] grant* held_by_owner_of(acquire_op const& op) const;
    /// The acquisitions of the same lock and owner that wait, in the order of their arrival.
    [[nodiscard]] std::vector<std::shared_ptr<acquire_op>> waiting_like(acquire_op const& op) const;

    void clear() noexcept;

private:
    struct identity {
        std::string lock;
        owner who;
        friend bool operator==(identity const&, identity const&) = default;
    };
    struct identity_hash {
        std::size_t operator()(identity const& of) const noexcept;
    };
    struct entry {
        grant* held = nullptr;
        std::list<acquire_op*> waiting;
    };
    using entries = std::unordered_map<identity, entry, identity_hash>;

    static identity identity_of(acquire_op const& op);
    void tidy(entries::iterator at);

    entries entries_;
    std::unordered_map<grant const*, owner> owner_of_;
};

}  // namespace holdfast::detail

#endif
