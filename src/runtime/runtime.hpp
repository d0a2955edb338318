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

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::detail {

/// Sleeps by the lease clock. Where that clock is moved by hand, it is told when each timer is due.
class timer : public boost::asio::basic_waitable_timer<lease_clock> {
    using base = boost::asio::basic_waitable_timer<lease_clock>;

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

/// Sets the timer to `at` by the lease clock. A timer that sleeps through a suspend of the machine
/// fires late: its waiter looks at the lease clock again.
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
