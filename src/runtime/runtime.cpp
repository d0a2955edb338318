#include "runtime/runtime.hpp"

#ifndef HOLDFAST_RUNTIME

#include <cerrno>
#include <chrono>
#include <system_error>

#if defined(__linux__)
#include <sys/random.h>
#include <time.h>
#else
#include <random>
#endif

namespace holdfast {

lease_clock::duration detail::system_time() noexcept {
#if defined(__linux__)
    // std::chrono::steady_clock is CLOCK_MONOTONIC here, which stands still while the machine is
    // suspended.
    timespec t{};
    // mutant: clock-that-stands-still-in-a-suspend
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
#else
    return std::chrono::duration_cast<lease_clock::duration>(
        std::chrono::steady_clock::now().time_since_epoch()
    );
#endif
}

lease_clock::time_point lease_clock::now() noexcept {
    return time_point{detail::virtual_time::now()};
}

namespace detail {

void fill_from_system(std::span<std::uint64_t> words) {
#if defined(__linux__)
    // Up to 256 bytes come whole once the generator is seeded; before that a signal may interrupt
    // the wait.
    while (::getrandom(words.data(), words.size_bytes(), 0) !=
           static_cast<ssize_t>(words.size_bytes())) {
        if (errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "getrandom");
        }
    }
#else
    std::random_device device;
    for (auto& word : words) {
        word = (static_cast<std::uint64_t>(device()) << 32U) | device();
    }
#endif
}

}  // namespace detail
}  // namespace holdfast

#endif
