#ifndef HOLDFAST_CORE_USUAL_HOLD_HPP
#define HOLDFAST_CORE_USUAL_HOLD_HPP

#include "core/lease_terms.hpp"

#include <cstdint>

namespace holdfast::detail {

/// How long a lock is usually held: a running mean, in which the newest hold weighs 0.2 and all
/// before it 0.8. The server keeps it. A client adds the holds that follow each other without a
/// word to the server, and reports them together.
class usual_hold {
public:
    /// Holds that the server was not told of.
    struct report {
        std::uint32_t count = 0;
        /// Theirs, with the same weights.
        nanos mean{0};

        friend bool operator==(report const&, report const&) = default;
    };

    /// What the server knows, with all that was reported; zero: nothing.
    void on_told(nanos usual) noexcept;
    /// A holder has given the lock back after so long.
    void on_held(nanos length) noexcept;
    /// What to tell the server. It is told once, whether the request arrives or not.
    [[nodiscard]] report take() noexcept;
    /// Zero: it is not known.
    [[nodiscard]] nanos expected() const noexcept;

private:
    // In microseconds, and not more exact than that is of use: a client may have many of these.
    float known_ = 0;
    float mean_ = 0;
    std::uint32_t count_ = 0;
};

}  // namespace holdfast::detail

#endif
