#ifndef HOLDFAST_LEASE_CLOCK_HPP
#define HOLDFAST_LEASE_CLOCK_HPP

#include <holdfast/export.hpp>

#include <chrono>

namespace holdfast {

/// The clock that decides whether a lease is valid. It is monotonic and independent of changes of
/// the wall clock. It also counts while the machine is suspended (`CLOCK_BOOTTIME` on Linux), so
/// that a lease that ended meanwhile is not valid after a resume.
///
/// Its time points have no meaning in another process.
///
/// @par Thread safety   Safe.
struct lease_clock {
    /// @{
    /// The members of a `std::chrono` clock. It counts nanoseconds.
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<lease_clock>;
    static constexpr bool is_steady = true;
    /// @}

    /// The current time.
    [[nodiscard]] HOLDFAST_EXPORT static time_point now() noexcept;
};

}  // namespace holdfast

#endif
