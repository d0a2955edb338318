#include "redis/deployment/slot_map.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::detail {

namespace {

std::optional<std::uint16_t> number_up_to(std::string_view text, std::uint16_t greatest) {
    std::uint16_t number = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool const whole = ec == std::errc{} && end == text.data() + text.size();
    return whole && number <= greatest ? std::optional{number} : std::nullopt;
}

std::string_view next_word(std::string_view& rest) {
    auto const word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return word;
}

void fill(
    std::vector<std::uint32_t>& slots,
    std::size_t first,
    std::size_t end,
    std::uint32_t server
) {
    std::fill_n(slots.begin() + static_cast<std::ptrdiff_t>(first), end - first, server);
}

// The end of the row of slots that have the values of the first one in each of these vectors. A map
// has few such rows.
template <class... Slots>
std::size_t end_of_row(std::size_t first, Slots const&... of) {
    auto end = first + 1;
    while (end < slot_count && ((of[end] == of[first]) && ...)) {
        ++end;
    }
    return end;
}

}  // namespace

slot_map::slot_map() : servers_(slot_count, nobody) {}

std::uint32_t slot_map::number_of(config::address const& where) {
    auto const at = std::find(addresses_.begin(), addresses_.end(), where);
    auto const number = static_cast<std::uint32_t>(at - addresses_.begin());
    if (at == addresses_.end()) {
        slots_of_.resize(addresses_.size() + 1);
        addresses_.push_back(where);
    }
    return number;
}

void slot_map::assign(std::size_t first, std::size_t end, std::uint32_t server) {
    auto const before = servers_[first];
    if (before == server) {
        return;
    }
    agreed_.clear();
    note_move(first, end, before, server);
    if (before != nobody) {
        slots_of_[before] -= end - first;
        served_ -= end - first;
    }
    if (server != nobody) {
        slots_of_[server] += end - first;
        served_ += end - first;
        receivers_.insert(server);
    }
    fill(servers_, first, end, server);
}

void slot_map::note_move(std::size_t first, std::size_t end, std::uint32_t from, std::uint32_t to) {
    move const made{
        static_cast<std::uint16_t>(first),
        static_cast<std::uint16_t>(end - 1),
        known_server(from),
        known_server(to)
    };
    if (!moves_.empty()) {
        auto& before = moves_.back();
        if (before.last + 1U == first && before.from == made.from && before.to == made.to) {
            before.last = made.last;
            return;
        }
    }
    moves_.push_back(made);
}

std::optional<std::vector<std::uint32_t>> slot_map::read(
    std::uint32_t by,
    script_reply const& reply
) {
    std::vector<std::uint32_t> said(slot_count, nobody);
    for (auto rest = reply.rest(0); !rest.empty();) {
        auto const first = number_up_to(next_word(rest), slot_count - 1);
        auto const last = number_up_to(next_word(rest), slot_count - 1);
        auto const host = next_word(rest);
        auto const port = number_up_to(next_word(rest), 65'535);
        if (!first || !last || *last < *first || host.empty() || !port || *port == 0) {
            return std::nullopt;
        }
        auto const server =
            number_of({host == "-" ? addresses_[by].host : std::string{host}, *port});
        fill(said, *first, *last + 1U, server);
    }
    return said;
}

bool slot_map::on_answer(
    std::uint32_t by,
    script_reply const& reply,
    std::function<bool(std::uint32_t server)> const& within_reach
) {
    // Most answers say what is known.
    if (auto const at = agreed_.find(by); at != agreed_.end() && at->second == reply.rest(0)) {
        return true;
    }
    auto read_answer = read(by, reply);
    if (!read_answer) {
        return false;
    }
    auto& said = *read_answer;
    std::vector<bool> reached(addresses_.size());
    for (std::uint32_t server = 0; server < reached.size(); ++server) {
        reached[server] = within_reach(server);
    }
    auto before = servers_;
    for (auto const& [slot, server] : former_) {
        before[slot] = server;
    }
    // Servers of whose slots it is not known yet who has them, and those that perhaps do.
    std::set<std::uint32_t> doubtful;
    std::set<std::uint32_t> named;
    for (std::size_t slot = 0, end = 0; slot < slot_count; slot = end) {
        end = end_of_row(slot, servers_, said, before);
        auto const known = servers_[slot];
        bool const own = by == known || by == said[slot];
        if (known == said[slot] || own || known == nobody || !reached[known]) {
            assign(slot, end, said[slot]);
        } else {
            named.insert(said[slot] == nobody ? known : said[slot]);
            doubtful.insert(before[slot]);
        }
    }
    auto const former = std::exchange(former_, {});
    for (std::size_t slot = 0, end = 0; slot < slot_count; slot = end) {
        end = end_of_row(slot, servers_, said, before);
        if (!doubtful.contains(before[slot]) && !named.contains(said[slot])) {
            continue;
        }
        fill(said, slot, end, before[slot]);
        for (auto moved = slot; servers_[slot] != before[slot] && moved < end; ++moved) {
            former_.emplace(static_cast<std::uint16_t>(moved), before[slot]);
        }
    }
    find_successions(before, said, former);
    named_.merge(named);
    if (doubtful.empty()) {
        agreed_[by] = reply.rest(0);
    } else {
        agreed_.clear();
    }
    known_ = true;
    return true;
}

// What one node said of a slot does not count here: a server whose place was taken a moment after
// that has the slot for those who believe it, and nothing else.
void slot_map::find_successions(
    std::vector<std::uint32_t> const& before,
    std::vector<std::uint32_t> const& said,
    std::map<std::uint16_t, std::uint32_t> const& former
) {
    if (before == said) {
        return;
    }
    std::vector<bool> had_slots(addresses_.size());
    std::vector<bool> has_slots(addresses_.size());
    for (std::size_t slot = 0; slot < slot_count; slot = end_of_row(slot, before, said)) {
        if (before[slot] != nobody) {
            had_slots[before[slot]] = true;
        }
        if (said[slot] != nobody) {
            has_slots[said[slot]] = true;
        }
    }
    std::set<succession> all;
    std::set<std::uint32_t> replaced;
    for (std::size_t slot = 0; slot < slot_count; slot = end_of_row(slot, before, said)) {
        auto const from = before[slot];
        auto const to = said[slot];
        if (from != nobody && to != nobody && !has_slots[from]) {
            all.insert({from, to});
            if (!had_slots[to]) {
                replaced.insert(from);
            }
        }
    }
    std::erase_if(all, [&](succession const& one) { return !replaced.contains(one.from); });
    // That these have moved was told before it was known why.
    for (auto const& [slot, server] : former) {
        if (all.contains({server, servers_[slot]})) {
            note_move(slot, slot + 1U, server, servers_[slot]);
        }
    }
    successions_.merge(all);
}

void slot_map::on_moved(std::uint16_t slot, std::uint32_t to) {
    agreed_.clear();
    former_.emplace(slot, servers_[slot]);
    assign(slot, slot + 1U, to);
}

std::optional<std::uint32_t> slot_map::server_of(std::uint16_t slot) const noexcept {
    return known_server(servers_[slot]);
}

std::optional<std::uint32_t> slot_map::any_primary() const noexcept {
    auto const at =
        std::find_if(slots_of_.begin(), slots_of_.end(), [](auto count) { return count > 0; });
    return at == slots_of_.end()
               ? std::nullopt
               : std::optional{static_cast<std::uint32_t>(at - slots_of_.begin())};
}

}  // namespace holdfast::detail
