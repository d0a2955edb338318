#ifndef HOLDFAST_REDIS_DEPLOYMENT_SLOT_MAP_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_SLOT_MAP_HPP

#include "protocol/reply.hpp"
#include "protocol/slot.hpp"

#include <holdfast/config.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
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
/// A server is known by its number until it is forgotten. No other server gets that number.
class slot_map {
public:
    slot_map();

    /// The number of the server there; a new one if it was not known.
    [[nodiscard]] std::uint32_t number_of(config::address const& where);
    /// Of a server that is known.
    [[nodiscard]] config::address const& address(std::uint32_t server) const {
        return servers_.at(server).where;
    }
    [[nodiscard]] bool knows(std::uint32_t server) const { return servers_.contains(server); }
    /// In the order of their numbers.
    [[nodiscard]] std::vector<std::uint32_t> servers() const;
    /// Forgets the servers that have no slots, except those that had slots of which no answer has
    /// said yet who has them, and those that `needed` returns true for. What the `take_` functions
    /// return has to be taken before. @returns their numbers.
    std::vector<std::uint32_t> forget_unless(std::function<bool(std::uint32_t server)> const& needed
    );

    /// What the server of this number answered to `scripts::cluster_slots`. False if it is not such
    /// an answer, and nothing has changed.
    ///
    /// Nodes hear of a change one by one, so an answer may be older than what is known. A server is
    /// believed what it says of its own slots: that it has them, or that another one has those it
    /// was known to have. What it says of the slots of a third one counts while that one is not
    /// within reach. Otherwise the server that it names has to be asked: see `take_named`.
    bool on_answer(
        std::uint32_t by,
        script_reply const& reply,
        std::function<bool(std::uint32_t server)> const& within_reach
    );
    /// The node that was taken for the slot's server has said that this one has it.
    void on_moved(std::uint16_t slot, std::uint32_t to);
    /// Servers that were said by others to have slots of a server that is within reach, since this
    /// was called last. If a slot was said to have none, its server.
    [[nodiscard]] std::set<std::uint32_t> take_named() noexcept {
        return std::exchange(named_, {});
    }

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
        auto const at = servers_.find(server);
        return at != servers_.end() && at->second.slots > 0;
    }
    /// One that has slots; none if there is none.
    [[nodiscard]] std::optional<std::uint32_t> any_primary() const noexcept;

private:
    // In `server_of_`.
    static constexpr std::uint32_t nobody = 0xffff'ffff;

    [[nodiscard]] static std::optional<std::uint32_t> known_server(std::uint32_t server) noexcept {
        return server == nobody ? std::nullopt : std::optional{server};
    }
    // Of slots in a row that have the same server.
    void assign(std::size_t first, std::size_t end, std::uint32_t server);
    void note_move(std::size_t first, std::size_t end, std::uint32_t from, std::uint32_t to);
    [[nodiscard]] std::optional<std::vector<std::uint32_t>> read(
        std::uint32_t by,
        script_reply const& reply
    );
    /// Who had each slot before, and who has it by the last answer; `former` has moved already.
    void find_successions(
        std::vector<std::uint32_t> const& before,
        std::vector<std::uint32_t> const& said,
        std::map<std::uint16_t, std::uint32_t> const& former
    );

    struct node {
        config::address where;
        // How many it has.
        std::size_t slots = 0;
    };

    std::map<std::uint32_t, node> servers_;
    std::uint32_t next_number_ = 0;
    // By slot.
    std::vector<std::uint32_t> server_of_;
    // Who had the slots that have moved, as far as no answer has said yet what became of all that
    // server's slots.
    std::map<std::uint16_t, std::uint32_t> former_;
    std::set<std::uint32_t> named_;
    std::vector<move> moves_;
    std::set<succession> successions_;
    // By server, its last answer, if that said what this map says. The same answer changes nothing.
    std::map<std::uint32_t, std::string> agreed_;
    std::size_t served_ = 0;
    bool known_ = false;
};

}  // namespace holdfast::detail

#endif
