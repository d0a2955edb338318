#ifndef HOLDFAST_PROTOCOL_COUNTED_HPP
#define HOLDFAST_PROTOCOL_COUNTED_HPP

#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// What a latch and a counting semaphore have in common: a number under the name, and grants that
/// are no leases. Requests that change the number may come again; each leaves a mark on the server.
class counted : public primitive {
public:
    /// A greater number is none: it would not be exact in a script.
    static constexpr std::int64_t greatest = 9'007'199'254'740'991;

    struct request {
        target const& on;
        /// The request may come again with it, and no other has it.
        holder_id const& id;
        std::int64_t number;
        /// How long its mark is kept.
        millis kept;
        std::chrono::nanoseconds timeout;
    };
    struct request_reply {
        /// The key holds a number, or nothing.
        bool valid = false;
        /// It did what was asked for.
        bool done = false;
        /// The notification went out to those who wait.
        bool notified = true;
    };
    [[nodiscard]] static request_reply read_request(script_reply const& reply);

    /// Sets the number if there is none.
    [[nodiscard]] call try_set(request const& what) const;

    [[nodiscard]] static call read(target const& on, std::chrono::nanoseconds timeout);
    /// Nothing if the key holds something else.
    [[nodiscard]] virtual std::optional<std::int64_t> read_number(script_reply const& reply) const;

    /// Each is the id of a request that was answered and will not come again.
    struct answered {
        target const* on;
        holder_id id;
    };
    [[nodiscard]] static call forget(
        std::span<answered const> all,
        std::chrono::nanoseconds timeout
    );

    // Of leases and those who have them. They are not used: a grant is no lease.
    [[nodiscard]] call renew(renewal const& what) const final;
    [[nodiscard]] renew_reply read_renew(script_reply const& reply) const final;
    [[nodiscard]] call renew_many(std::span<member const> all, std::chrono::nanoseconds timeout)
        const final;
    [[nodiscard]] std::optional<loss_reason> read_renew_many(
        script_reply const& reply,
        std::size_t number
    ) const final;
    [[nodiscard]] call inspect(target const& on, std::chrono::nanoseconds timeout, bool hand_over)
        const final;
    [[nodiscard]] lock_reading read_inspect(script_reply const& reply) const final;
    [[nodiscard]] call force_release(
        target const& on,
        std::chrono::nanoseconds timeout,
        millis patience
    ) const final;
    [[nodiscard]] force_release_reply read_force_release(script_reply const& reply) const final;

protected:
    ~counted() = default;

    /// The key that tells that the request was executed.
    [[nodiscard]] static std::string mark_of(target const& on, holder_id const& id);
    /// Number, channel and mark.
    static void add_keys(call& to, target const& on, holder_id const& id);

private:
    /// What those who wait are told of a new number.
    [[nodiscard]] virtual std::string message_of(std::int64_t number) const = 0;
};

}  // namespace holdfast::detail

#endif
