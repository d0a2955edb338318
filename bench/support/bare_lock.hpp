#ifndef HOLDFAST_BENCH_SUPPORT_BARE_LOCK_HPP
#define HOLDFAST_BENCH_SUPPORT_BARE_LOCK_HPP

#include "core/holder_id.hpp"
#include "protocol/call.hpp"
#include "protocol/script.hpp"
#include "protocol/target.hpp"
#include "support/bare.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// Acquires, renews and releases one key with the library's scripts and without its care.
class bare_lock {
public:
    bare_lock(
        bare_connection& on,
        std::string_view name,
        std::chrono::milliseconds lease = std::chrono::seconds{30}
    );

    /// The same on a node of a cluster, which must be the one that has the key.
    bare_lock(bare_connection& on, std::string_view name, detail::script_dialect spoken);

    /// The same for what another kind of target names.
    bare_lock(
        bare_connection& on,
        detail::target target,
        std::chrono::milliseconds lease = std::chrono::seconds{30}
    );

    /// The token; 0 if somebody else has the lock.
    [[nodiscard]] asio::awaitable<std::uint64_t> acquire();
    [[nodiscard]] asio::awaitable<void> renew();
    [[nodiscard]] asio::awaitable<void> release();

private:
    [[nodiscard]] asio::awaitable<void> send(detail::call const& what);

    bare_caller caller_;
    detail::target target_;
    std::chrono::milliseconds lease_;
    detail::script_dialect dialect_ = detail::script_dialect::single;
    detail::holder_id holder_;
    std::string key_count_;
    std::string nonce_;
    std::vector<std::string_view> words_;
};

/// The same for two at once: one script takes both, and one request gives both back.
class bare_locks {
public:
    bare_locks(bare_connection& on, std::string_view first, std::string_view second);

    /// Of a lock that nobody else has.
    [[nodiscard]] asio::awaitable<void> acquire();
    [[nodiscard]] asio::awaitable<void> release();

private:
    bare_caller caller_;
    std::array<detail::target, 2> targets_;
    std::array<detail::holder_id, 2> holders_;
};

}  // namespace holdfast::bench

#endif
