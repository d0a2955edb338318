#ifndef HOLDFAST_PROTOCOL_SCRIPT_HPP
#define HOLDFAST_PROTOCOL_SCRIPT_HPP

#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// What a script has to know of the servers that it runs on.
enum class script_dialect : std::uint8_t {
    /// One server has all keys and all subscribers.
    single,
    /// A node of a Redis Cluster. A client has a channel for each lock, in the lock's slot: the
    /// node that has the lock knows who listens there.
    cluster,
    /// The same, with sharded channels.
    sharded,
};

/// A Lua script. Redis knows it by the SHA-1 of its text.
struct script {
    struct form {
        std::string_view text;
        std::string_view sha1;
    };

    std::string_view name;
    std::string_view text;
    std::string_view sha1;
    /// Empty where they are the same.
    form cluster = {};
    form sharded = {};

    [[nodiscard]] form in(script_dialect dialect) const noexcept {
        auto const& other = dialect == script_dialect::sharded ? sharded : cluster;
        return dialect == script_dialect::single || other.text.empty() ? form{text, sha1} : other;
    }
};

}  // namespace holdfast::detail

#endif
