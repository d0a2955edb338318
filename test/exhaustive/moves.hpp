#ifndef HOLDFAST_EXHAUSTIVE_MOVES_HPP
#define HOLDFAST_EXHAUSTIVE_MOVES_HPP

#include "exhaustive/context.hpp"
#include "exhaustive/world.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::exhaustive {

enum class move_kind : std::uint8_t {
    // What a client does by itself, and what its callers make it do. It depends on the client and
    // the time alone, and changes nothing but the client.
    start,
    cancel_at_once,
    cancel_in_total,
    release,
    read_answer,
    read_not_sent,
    read_push,
    report_commands_down,
    report_commands_up,
    report_notices_up,
    run_keep_alive,
    send_renewal,
    hand_over,
    room_timer,
    release_timer,
    sweep_timer,
    limit_timer,
    // What the server does for a client.
    execute,
    execute_subscription,
    // What goes wrong with a client.
    crash,
    crash_stray,
    execute_twice,
    refuse,
    forget_script,
    time_out,
    poison,
    commands_down,
    commands_down_stray,
    notices_down,
    // The rest of the world.
    execute_stray,
    remove,
    pass_time,
};

inline bool is_local(move_kind kind) noexcept {
    return kind <= move_kind::limit_timer;
}

/// What may happen next.
struct move {
    move_kind kind = move_kind::pass_time;
    std::uint8_t client = 0;
    /// An acquisition, or a place in a sequence.
    std::uint8_t which = 0;

    [[nodiscard]] std::uint16_t packed() const noexcept {
        return static_cast<std::uint16_t>(
            static_cast<unsigned>(kind) | static_cast<unsigned>(client) << 8U |
            static_cast<unsigned>(which) << 9U
        );
    }
    static move unpacked(std::uint16_t word) noexcept {
        return {
            static_cast<move_kind>(word & 0xffU),
            static_cast<std::uint8_t>(word >> 8U & 1U),
            static_cast<std::uint8_t>(word >> 9U),
        };
    }
};

/// How a client stands at a tick.
struct standing {
    /// It has asked for something.
    bool began = false;
    /// It has nothing, wants nothing, and has nothing on its way.
    bool over = false;
    /// Something of it has to happen before time goes on.
    bool busy = false;
};

standing look_at(scope const& of, client const& c, tick now);
/// Nobody wants anything any more, and nothing is left of what was wanted.
bool is_over(scope const& of, world const& w);

void list_local_moves(scope const& of, client const& c, tick now, std::vector<move>& out);
void make_local_move(context& ctx, client& c, tick now, move const& m);

/// Those that are not local. `all` is how the clients stand.
void list_moves(
    scope const& of,
    world const& w,
    std::array<standing, client_count> const& all,
    std::vector<move>& out
);
/// Any move.
void make_move(context& ctx, world& w, move const& m);

/// In words. `names` are those of the clients.
std::string describe(
    scope const& of,
    world const& before,
    move const& m,
    std::array<char, client_count> names
);
/// How things stand, in a line.
std::string describe(machines const& all, world const& w, std::array<char, client_count> names);

}  // namespace holdfast::exhaustive

#endif
