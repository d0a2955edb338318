#ifndef HOLDFAST_CORE_SHARING_HPP
#define HOLDFAST_CORE_SHARING_HPP

#include "core/hold_fsm.hpp"
#include "core/lease_terms.hpp"

#include <cstdint>

namespace holdfast::detail {

/// Whether further holders of a client may have a hold that several may have at a time, without a
/// word to the server.
///
/// Those that come while the hold is had must not keep the lock from a client that waits for it.
/// So they are admitted for a moment only, after the server has said that nobody waits.
///
/// Time is an argument.
class sharing {
public:
    /// Who may have it beside the holder that it was granted to.
    enum class extent : std::uint8_t {
        none,
        /// Those of this client that waited when it was granted.
        those_that_waited,
        /// Those that come after it, too.
        all,
    };
    /// How old the answer may be that nobody waits.
    static constexpr nanos longest_ignorance = millis{10};

    /// `asked_at`: when the request was sent that the server granted.
    sharing(extent to, time_point asked_at) noexcept : asked_at_{asked_at}, to_{to} {}

    /// `waited`: since before it was granted. `wanted`: what the further holder wants.
    [[nodiscard]] bool admits(
        bool waited,
        hold_fsm const& of,
        lease_terms const& wanted,
        time_point now
    ) const noexcept;

    /// Somebody waits, or has the lock.
    void close() noexcept { to_ = extent::none; }

private:
    time_point asked_at_;
    extent to_;
};

}  // namespace holdfast::detail

#endif
