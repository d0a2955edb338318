#ifndef HOLDFAST_PROTOCOL_COUNTING_SEMAPHORE_HPP
#define HOLDFAST_PROTOCOL_COUNTING_SEMAPHORE_HPP

#include "protocol/counted.hpp"
#include "protocol/target.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// The protocol of a counting semaphore, on the key and channel of Redisson's RSemaphore. Nobody
/// knows who has taken permits, except for a while which attempts have.
class counting_semaphore_protocol_type final : public counted {
public:
    [[nodiscard]] places queues() const noexcept override { return places::none; }
    [[nodiscard]] grants gives() const noexcept override { return grants::passes; }

    [[nodiscard]] call acquire(attempt const& what) const override;
    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override;
    /// Gives back what an attempt may have taken.
    [[nodiscard]] call release(parting const& what) const override;
    [[nodiscard]] release_reply read_release(script_reply const& reply) const override;

    /// The number may be negative.
    [[nodiscard]] static call add(request const& what);
    [[nodiscard]] static call drain(request const& what);

private:
    [[nodiscard]] std::string message_of(std::int64_t number) const override;
};

[[nodiscard]] counting_semaphore_protocol_type const& counting_semaphore_protocol() noexcept;

/// The semaphore of the name `prefix + name`; an invalid target if the name is not allowed. A grant
/// takes one permit.
[[nodiscard]] target make_counting_semaphore_target(std::string_view prefix, std::string_view name);

}  // namespace holdfast::detail

#endif
