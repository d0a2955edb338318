#ifndef HOLDFAST_LEADER_INFO_HPP
#define HOLDFAST_LEADER_INFO_HPP

#include <holdfast/fencing_token.hpp>

#include <string>

namespace holdfast {

/// Who leads, or that nobody does.
///
/// @par Thread safety   A value: distinct objects safe, shared objects safe unless assigned to.
struct leader_info {
    /// The fencing token of its grant: no two leaders have the same one, and a later leader has a
    /// greater one. Zero if nobody leads.
    fencing_token term;
    /// What it proclaimed, such as its address: any bytes.
    std::string value;
    /// `<client id>:<number>`, as `lock_info::holder` has it.
    std::string holder;

    /// Whether somebody leads.
    [[nodiscard]] explicit operator bool() const noexcept { return term.value != 0; }

    /// The same leader with the same value.
    ///
    /// @par Errors   None.
    friend bool operator==(leader_info const&, leader_info const&) = default;
};

}  // namespace holdfast

#endif
