#ifndef HOLDFAST_OPS_ROOM_TABLE_HPP
#define HOLDFAST_OPS_ROOM_TABLE_HPP

#include "core/key_names.hpp"
#include "ops/runtime.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::detail {

class acquire_op;
class client_state;
class waiting_room;

/// A client's waiting rooms, and which of them listen to which channel. Used on the client's
/// strand.
class room_table {
public:
    explicit room_table(client_state& client) : client_{client} {}

    /// Ends with `too_many_waiters` if the room is full.
    void enter(std::shared_ptr<acquire_op> op);
    [[nodiscard]] std::size_t waiters_of(std::string const& lock) const;

    // What rooms ask for.
    void subscribe(waiting_room& room);
    void on_room_empty(waiting_room& room);

    // What happens to all of them, or to those of a lock or channel.
    void on_commands_up();
    void on_commands_down();
    void on_notices_down();
    void on_subscribed(std::string_view channel, bool again);
    void on_subscribe_refused(std::string_view channel, error_code cause);
    void on_notice(std::string_view channel);
    /// This client released a lock; `told`: the message went out.
    void on_released(key_names const& key, bool told);
    void end_all(error_code cause);

    /// Drops all rooms and what waits in them.
    void clear() noexcept;

private:
    void close(waiting_room& room);
    void arm_sweep();
    void sweep();
    [[nodiscard]] std::vector<std::shared_ptr<waiting_room>> all() const;
    [[nodiscard]] std::vector<std::shared_ptr<waiting_room>> of_channel(std::string_view channel
    ) const;

    client_state& client_;
    std::unordered_map<std::string, std::shared_ptr<waiting_room>> rooms_;
    // Some names share a channel: "a" and "{a}".
    std::multimap<std::string, waiting_room*, std::less<>> by_channel_;
    std::optional<timer> sweep_timer_;
    bool sweeping_ = false;
};

}  // namespace holdfast::detail

#endif
