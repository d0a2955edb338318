#ifndef HOLDFAST_RUNTIME_RUNTIME_HPP
#define HOLDFAST_RUNTIME_RUNTIME_HPP

// Everything in the library that sleeps, reads a clock or draws randomness does so through this
// file. A build that defines HOLDFAST_RUNTIME to the name of another header runs the same code in
// that header's time.

#ifdef HOLDFAST_RUNTIME
#include HOLDFAST_RUNTIME
#else

#include "runtime/virtual_time.hpp"

#include <holdfast/lease_clock.hpp>

#include <boost/asio/basic_waitable_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::detail {

/// Wait traits of Asio. What Asio waits with stands still while the machine is suspended, and it
/// sets that anew only for a timer that is due before all others. So it looks at the lease clock
/// once a second: after a suspend no timer is later than that.
struct looks_each_second {
    using duration = lease_clock::duration;
    using time_point = lease_clock::time_point;

    static duration to_wait_duration(duration const& left) noexcept {
        return std::min<duration>(left, std::chrono::seconds{1});
    }
    static duration to_wait_duration(time_point const& at) noexcept {
        // The far ends of the clock stay where they are.
        auto const now = lease_clock::now();
        return at <= now ? duration{0} : to_wait_duration(at - now);
    }
};

/// Sleeps by the lease clock. Where that clock is moved by hand, it is told when each timer is due.
class timer : public boost::asio::basic_waitable_timer<lease_clock, looks_each_second> {
    using base = boost::asio::basic_waitable_timer<lease_clock, looks_each_second>;

public:
    using base::base;

    std::size_t expires_at(time_point at) {
        auto const cancelled = base::expires_at(at);
        if (virtual_time::is_watched()) {
            virtual_time::note(at);
        }
        return cancelled;
    }
    std::size_t expires_after(duration after) {
        auto const cancelled = base::expires_after(after);
        if (virtual_time::is_watched()) {
            virtual_time::note(expiry());
        }
        return cancelled;
    }
};

/// Fills `words` from the operating system's generator.
/// @throws std::system_error if it fails: there is no fallback.
void fill_from_system(std::span<std::uint64_t> words);

}  // namespace holdfast::detail

#endif

namespace holdfast::detail {

/// 64 bits from the operating system's generator.
[[nodiscard]] inline std::uint64_t random_from_system() {
    std::uint64_t bits = 0;
    fill_from_system({&bits, 1});
    return bits;
}

/// Sets the timer to `at` by the lease clock.
inline void sleep_until(timer& t, lease_clock::time_point at) {
    // Far enough to stand for ever, near enough not to overflow the timer's clock.
    constexpr auto longest = std::chrono::hours{24 * 365};
    auto const now = lease_clock::now();
    auto const wait = at <= now             ? lease_clock::duration{0}
                      : at >= now + longest ? longest
                                            : at - now;
    t.expires_after(std::chrono::duration_cast<timer::duration>(wait));
}

}  // namespace holdfast::detail

#endif
