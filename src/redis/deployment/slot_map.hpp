#ifndef HOLDFAST_REDIS_DEPLOYMENT_SLOT_MAP_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_SLOT_MAP_HPP

#include "core/lease_terms.hpp"
#include "protocol/reply.hpp"
#include "protocol/slot.hpp"

#include <holdfast/config.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// Which primary of a Redis Cluster has which slot. It does no I/O.
///
/// A server is known by its number. It keeps the number for as long as the map lives, whether it
/// has slots or not.
class slot_map {
public:
    /// Who has a slot that a node has said to be elsewhere is believed for so long against what
    /// others say, which may not have heard of it yet: nodes of a cluster tell each other of a
    /// change within a second or two.
    static constexpr nanos newer_for = millis{3'000};

    slot_map();

    /// The number of the server there; a new one if it was not known.
    [[nodiscard]] std::uint32_t number_of(config::address const& where);
    [[nodiscard]] config::address const& address(std::uint32_t server) const {
        return addresses_[server];
    }
    [[nodiscard]] std::size_t servers() const noexcept { return addresses_.size(); }

    /// What the server of this number answered to `scripts::cluster_slots`. False if it is not such
    /// an answer, and nothing has changed.
    bool on_answer(std::uint32_t by, script_reply const& reply, time_point now);
    /// A node has said that this server has the slot.
    void on_moved(std::uint16_t slot, std::uint32_t to, time_point now);

    /// Slots in a row that have another server than before, since this was called last. One that
    /// has moved is told once more when that turns out to be a part of a succession.
    struct move {
        std::uint16_t first;
        std::uint16_t last;
        /// None: nobody had it, or has it now.
        std::optional<std::uint32_t> from;
        std::optional<std::uint32_t> to;
    };
    [[nodiscard]] std::vector<move> take_moves() noexcept { return std::exchange(moves_, {}); }

    /// A server had no slot, and has one of a server that has none any more. So a replica takes
    /// over. Every server that has one of those slots counts as a successor: it got the slot from
    /// that replica. A server whose slots are moved to a new one, one after the other, is not taken
    /// for that, unless no node was asked from the first to the last of them.
    struct succession {
        std::uint32_t from;
        std::uint32_t to;

        friend auto operator<=>(succession const&, succession const&) = default;
    };
    /// Since this was called last.
    [[nodiscard]] std::set<succession> take_successions() noexcept {
        return std::exchange(successions_, {});
    }

    [[nodiscard]] std::optional<std::uint32_t> server_of(std::uint16_t slot) const noexcept;
    /// Each slot has a server.
    [[nodiscard]] bool complete() const noexcept { return served_ == slot_count; }
    /// A node has answered.
    [[nodiscard]] bool known() const noexcept { return known_; }
    /// It has slots.
    [[nodiscard]] bool is_primary(std::uint32_t server) const noexcept {
        return server < slots_of_.size() && slots_of_[server] > 0;
    }
    /// One that has slots; none if there is none.
    [[nodiscard]] std::optional<std::uint32_t> any_primary() const noexcept;

private:
    // In `servers_`.
    static constexpr std::uint32_t nobody = 0xffff'ffff;

    [[nodiscard]] static std::optional<std::uint32_t> known_server(std::uint32_t server) noexcept {
        return server == nobody ? std::nullopt : std::optional{server};
    }
    void assign(std::uint16_t slot, std::uint32_t server);
    void note_move(std::uint16_t slot, std::uint32_t from, std::uint32_t to);
    /// Who had each slot before the last answer, and who has it by that.
    void find_successions(
        std::vector<std::uint32_t> before,
        std::vector<std::uint32_t> const& said
    );

    std::vector<config::address> addresses_;
    std::vector<std::uint32_t> servers_;
    // How many slots each server has.
    std::vector<std::size_t> slots_of_;
    // Slots that a node has said something of, and when.
    std::map<std::uint16_t, time_point> moved_;
    // Who had them at the last answer, of those that a node has said something of since.
    std::map<std::uint16_t, std::uint32_t> former_;
    std::vector<move> moves_;
    std::set<succession> successions_;
    // The last answer, and whose it was.
    std::uint32_t said_by_ = nobody;
    std::string said_;
    std::size_t served_ = 0;
    bool known_ = false;
};

}  // namespace holdfast::detail

#endif
