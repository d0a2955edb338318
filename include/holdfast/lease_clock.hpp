#ifndef HOLDFAST_LEASE_CLOCK_HPP
#define HOLDFAST_LEASE_CLOCK_HPP

#include <holdfast/export.hpp>

#include <chrono>

namespace holdfast {

/// The clock that leases are judged by. It is monotonic, unaffected by changes of the wall clock,
/// and goes on while the machine is suspended (`CLOCK_BOOTTIME` on Linux), so that a lease does not
/// look alive after a resume.
///
/// Its time points mean nothing to another process.
///
/// @par Thread safety   Safe.
struct lease_clock {
    /// @{
    /// What a clock of `std::chrono` has; it counts nanoseconds.
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<lease_clock>;
    static constexpr bool is_steady = true;
    /// @}

    /// The present instant.
    [[nodiscard]] HOLDFAST_EXPORT static time_point now() noexcept;
};

}  // namespace holdfast

#endif
