#ifndef HOLDFAST_PROTOCOL_LATCH_HPP
#define HOLDFAST_PROTOCOL_LATCH_HPP

#include "protocol/counted.hpp"
#include "protocol/target.hpp"

#include <string_view>

namespace holdfast::detail {

/// The protocol of a latch, on the key and channel of Redisson's RCountDownLatch. Those who wait
/// only look at it.
class latch_protocol_type final : public counted {
public:
    [[nodiscard]] places queues() const noexcept override { return places::none; }
    [[nodiscard]] grants gives() const noexcept override { return grants::passes_of_all; }

    [[nodiscard]] call acquire(attempt const& what) const override;
    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override;
    [[nodiscard]] call release(parting const& what) const override;
    [[nodiscard]] release_reply read_release(script_reply const& reply) const override;
    [[nodiscard]] std::optional<std::int64_t> read_number(script_reply const& reply) const override;

    /// By `number`, no further than to zero. It is done if that has opened the latch.
    [[nodiscard]] static call count_down(request const& what);

private:
    [[nodiscard]] std::string message_of(std::int64_t number) const override;
};

[[nodiscard]] latch_protocol_type const& latch_protocol() noexcept;

/// The latch of the name `prefix + name`; an invalid target if the name is not allowed.
/// `in_one_slot`: its channel has the hash tag that its keys have.
[[nodiscard]] target make_latch_target(
    std::string_view prefix,
    std::string_view name,
    bool in_one_slot = false
);

}  // namespace holdfast::detail

#endif
