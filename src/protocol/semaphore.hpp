#ifndef HOLDFAST_PROTOCOL_SEMAPHORE_HPP
#define HOLDFAST_PROTOCOL_SEMAPHORE_HPP

#include "core/holder_id.hpp"
#include "protocol/call.hpp"
#include "protocol/primitive.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// The protocol of a semaphore, on the keys and channels of Redisson's RPermitExpirableSemaphore.
/// A grant takes so many permits as its target says.
[[nodiscard]] primitive const& semaphore_protocol() noexcept;

/// No grant takes more: each permit costs the server a command of each script.
inline constexpr std::int64_t most_permits = 1'000;
/// No semaphore has more: Redisson's numbers end there.
inline constexpr std::int64_t greatest_limit = 2'147'483'647;

/// The semaphore of the name `prefix + name`, for one permit at a time; an invalid target if the
/// name is not allowed.
[[nodiscard]] target make_semaphore_target(std::string_view prefix, std::string_view name);
/// The same semaphore, for so many permits at a time.
[[nodiscard]] target with_permits(target of, std::int64_t count);

/// The same semaphore. Its waiters state that it has so many permits.
[[nodiscard]] target with_limit(target of, std::int64_t limit);

/// The id of one of a holder's permits. They are the same in each request of that holder, and no
/// other holder's.
class permit_id {
public:
    permit_id(holder_id const& holder, std::uint32_t index) noexcept;
    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), bytes_.size()}; }

private:
    std::array<char, 16> bytes_{};
};

/// What `inspect` found.
struct semaphore_reading {
    enum class kind : std::uint8_t {
        /// Nobody has said how many permits there are.
        unset,
        set,
        corrupt,
    };
    kind what = kind::corrupt;
    /// Negative if the limit was made smaller while more were taken.
    std::int64_t available = 0;
    std::int64_t acquired = 0;
    std::uint64_t waiting = 0;
    /// How many permits there are, if that is set. It is more than those available and acquired
    /// while some are missing.
    std::int64_t limit = 0;
};
[[nodiscard]] semaphore_reading read_semaphore(script_reply const& reply);

[[nodiscard]] call set_permits(
    target const& on,
    std::int64_t limit,
    std::chrono::nanoseconds timeout
);
enum class set_permits_reply : std::uint8_t {
    was_set,
    set_now,
    /// The same, and the user may not notify those who wait.
    set_silently,
    corrupt,
    other_limit,
};
[[nodiscard]] set_permits_reply read_set_permits(script_reply const& reply);

}  // namespace holdfast::detail

#endif
