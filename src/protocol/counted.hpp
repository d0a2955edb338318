#ifndef HOLDFAST_PROTOCOL_COUNTED_HPP
#define HOLDFAST_PROTOCOL_COUNTED_HPP

#include "core/holder_id.hpp"
#include "protocol/call.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::detail {

/// The latch of the name `prefix + name`, on the key and channel of Redisson's RCountDownLatch; an
/// invalid target if the name is not allowed. `in_one_slot`: its channel has the hash tag that its
/// keys have.
[[nodiscard]] target make_latch_target(
    std::string_view prefix,
    std::string_view name,
    bool in_one_slot = false
);
/// The same of a counting semaphore, on the key and channel of Redisson's RSemaphore. An attempt
/// takes one permit.
[[nodiscard]] target make_counting_semaphore_target(std::string_view prefix, std::string_view name);

/// The protocol of latches and counting semaphores: a number under the name. There are no leases
/// and no holders. A request that changes the number may be repeated: the server marks its id as
/// executed.
namespace counted {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The greatest number that is exact in a script.
inline constexpr std::int64_t greatest = 9'007'199'254'740'991;

/// A change of the number.
struct request {
    target const& on;
    /// No other request has it.
    holder_id const& id;
    std::int64_t number;
    /// How long the server keeps the mark.
    milliseconds kept;
    nanoseconds timeout;
};

/// Sets the number if there is none.
[[nodiscard]] call try_set(request const& what);
/// Subtracts `number` from a latch, no further than to zero. It is done if that has opened the
/// latch.
[[nodiscard]] call count_down(request const& what);
/// Adds `number` permits, which may be negative.
[[nodiscard]] call add(request const& what);

struct request_reply {
    /// The key holds a number, or nothing.
    bool valid = false;
    bool done = false;
    /// The waiters could be notified.
    bool notified = true;
};
[[nodiscard]] request_reply read_request(script_reply const& reply);

/// Takes all permits. The reply is read by `read_number`.
[[nodiscard]] call drain(request const& what);
[[nodiscard]] call read(target const& on, nanoseconds timeout);
/// Nothing if the key holds something else.
[[nodiscard]] std::optional<std::int64_t> read_number(target const& on, script_reply const& reply);

/// What a waiter asks: whether the latch is open; or the permits of the target.
[[nodiscard]] call attempt(target const& on, holder_id const& id, nanoseconds timeout);
/// Whether the waiter got it. Nothing if the key holds something else.
[[nodiscard]] std::optional<bool> read_attempt(target const& on, script_reply const& reply);
/// A successful attempt takes something: whoever gives up has to give it back.
[[nodiscard]] bool takes(target const& on) noexcept;
/// Gives back the permits that an attempt has taken. If the attempt arrives later, it takes none.
[[nodiscard]] call withdraw(target const& on, holder_id const& id, nanoseconds timeout);
/// It is done if permits were given back.
[[nodiscard]] request_reply read_withdrawal(script_reply const& reply);

/// A request that was answered and will not be repeated.
struct answered {
    std::shared_ptr<target const> on;
    holder_id id;
};
/// Removes the marks.
[[nodiscard]] call forget(std::span<answered const> all, nanoseconds timeout);

}  // namespace counted
}  // namespace holdfast::detail

#endif
