#ifndef HOLDFAST_PROTOCOL_HASH_LOCK_HPP
#define HOLDFAST_PROTOCOL_HASH_LOCK_HPP

#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// What the locks have in common that are a hash with the holder as its only field.
class hash_lock : public primitive {
public:
    [[nodiscard]] call renew(renewal const& what) const override;
    [[nodiscard]] renew_reply read_renew(script_reply const& reply) const final;
    [[nodiscard]] call renew_many(std::span<member const> all, std::chrono::nanoseconds timeout)
        const override;
    [[nodiscard]] std::optional<loss_reason> read_renew_many(
        script_reply const& reply,
        std::size_t number
    ) const final;
    [[nodiscard]] release_reply read_release(script_reply const& reply) const final;
    [[nodiscard]] lock_reading read_inspect(script_reply const& reply) const override;
    [[nodiscard]] force_release_reply read_force_release(script_reply const& reply) const final;

protected:
    ~hash_lock() = default;

    /// A key beside the token counter, in the lock's slot.
    [[nodiscard]] static std::string sibling_of_counter(target const& on, std::string_view begins);
    /// The arguments of `scripts::lock_renew`. The field is the holder's in the hash.
    static void add_renewal(call& to, renewal const& what, std::string_view field);
    /// What is said first: until when the lock is had, the token, and how many wait.
    [[nodiscard]] static lock_reading read_state(script_reply const& reply);
    /// Where it is kept how long the lock is usually held. It is made when it is needed: most locks
    /// never do.
    [[nodiscard]] static std::string usual_hold_key(target const& on);
};

}  // namespace holdfast::detail

#endif
