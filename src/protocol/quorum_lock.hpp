#ifndef HOLDFAST_PROTOCOL_QUORUM_LOCK_HPP
#define HOLDFAST_PROTOCOL_QUORUM_LOCK_HPP

#include "protocol/call.hpp"
#include "protocol/primitive.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"

#include <holdfast/fencing_token.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// The protocol of one node's part of a quorum lock. It has the keys and channels of a lock, so
/// that each excludes the other on that node, and no queue: its release is told to all who wait.
[[nodiscard]] primitive const& quorum_lock_protocol() noexcept;

/// The part of the name `prefix + name`; an invalid target if the name is not allowed.
[[nodiscard]] target make_quorum_lock_target(std::string_view prefix, std::string_view name);

/// Writes a token back to a node where this holder id has the lock.
struct token_raise {
    target const& on;
    holder_id const& id;
    fencing_token token;
    std::chrono::milliseconds counter_ttl;
    std::chrono::nanoseconds timeout;
};
[[nodiscard]] call raise_token(token_raise const& what);
/// Whether the node has it now, and the lock is ours there.
[[nodiscard]] bool read_raise_token(script_reply const& reply) noexcept;

}  // namespace holdfast::detail

#endif
