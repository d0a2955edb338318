#include "runtime/wall_clock.hpp"

namespace holdfast::detail {

wall_time wall_clock_now() noexcept {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()
    );
}

}  // namespace holdfast::detail
