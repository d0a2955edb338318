#ifndef HOLDFAST_RUNTIME_WALL_CLOCK_HPP
#define HOLDFAST_RUNTIME_WALL_CLOCK_HPP

#include <chrono>

namespace holdfast::detail {

using wall_time = std::chrono::sys_time<std::chrono::microseconds>;

/// The time of day, to be shown to people or compared with a server's. It may jump: no lease is
/// measured with it.
[[nodiscard]] wall_time wall_clock_now() noexcept;

}  // namespace holdfast::detail

#endif
