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

slot_map::slot_map() : server_of_(slot_count, nobody) {}

std::uint32_t slot_map::number_of(config::address const& where) {
    auto const known = std::find_if(servers_.begin(), servers_.end(), [&](auto const& each) {
        return each.second.where == where;
    });
    if (known != servers_.end()) {
        return known->first;
    }
    servers_.emplace(next_number_, node{where});
    return next_number_++;
}

std::vector<std::uint32_t> slot_map::servers() const {
    std::vector<std::uint32_t> all;
    for (auto const& [number, one] : servers_) {
        all.push_back(number);
    }
    return all;
}

std::vector<std::uint32_t> slot_map::forget_unless(
    std::function<bool(std::uint32_t server)> const& needed
) {
    std::set<std::uint32_t> former;
    for (auto const& [slot, server] : former_) {
        former.insert(server);
    }
    std::vector<std::uint32_t> forgotten;
    std::erase_if(servers_, [&](auto const& each) {
        auto const number = each.first;
        bool const forget = each.second.slots == 0 && !former.contains(number) && !needed(number);
        if (forget) {
            agreed_.erase(number);
            forgotten.push_back(number);
        }
        return forget;
    });
    return forgotten;
}

void slot_map::assign(std::size_t first, std::size_t end, std::uint32_t server) {
    auto const before = server_of_[first];
    if (before == server) {
        return;
    }
    agreed_.clear();
    note_move(first, end, before, server);
    if (before != nobody) {
        servers_.at(before).slots -= end - first;
        served_ -= end - first;
    }
    if (server != nobody) {
        servers_.at(server).slots += end - first;
        served_ += end - first;
    }
    fill(server_of_, first, end, server);
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
        auto const server = number_of({host == "-" ? address(by).host : std::string{host}, *port});
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
    auto before = server_of_;
    for (auto const& [slot, server] : former_) {
        before[slot] = server;
    }
    // Servers of whose slots it is not known yet who has them, and those that perhaps do.
    std::set<std::uint32_t> doubtful;
    std::set<std::uint32_t> named;
    for (std::size_t slot = 0, end = 0; slot < slot_count; slot = end) {
        end = end_of_row(slot, server_of_, said, before);
        auto const known = server_of_[slot];
        bool const own = by == known || by == said[slot];
        if (known == said[slot] || own || known == nobody || !within_reach(known)) {
            assign(slot, end, said[slot]);
        } else {
            named.insert(said[slot] == nobody ? known : said[slot]);
            doubtful.insert(before[slot]);
        }
    }
    auto const former = std::exchange(former_, {});
    for (std::size_t slot = 0, end = 0; slot < slot_count; slot = end) {
        end = end_of_row(slot, server_of_, said, before);
        if (!doubtful.contains(before[slot]) && !named.contains(said[slot])) {
            continue;
        }
        fill(said, slot, end, before[slot]);
        for (auto moved = slot; server_of_[slot] != before[slot] && moved < end; ++moved) {
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
    std::set<std::uint32_t> had_slots;
    std::set<std::uint32_t> has_slots;
    for (std::size_t slot = 0; slot < slot_count; slot = end_of_row(slot, before, said)) {
        had_slots.insert(before[slot]);
        has_slots.insert(said[slot]);
    }
    std::set<succession> all;
    std::set<std::uint32_t> replaced;
    for (std::size_t slot = 0; slot < slot_count; slot = end_of_row(slot, before, said)) {
        auto const from = before[slot];
        auto const to = said[slot];
        if (from != nobody && to != nobody && !has_slots.contains(from)) {
            all.insert({from, to});
            if (!had_slots.contains(to)) {
                replaced.insert(from);
            }
        }
    }
    std::erase_if(all, [&](succession const& one) { return !replaced.contains(one.from); });
    // That these have moved was told before it was known why.
    for (auto const& [slot, server] : former) {
        if (all.contains({server, server_of_[slot]})) {
            note_move(slot, slot + 1U, server, server_of_[slot]);
        }
    }
    successions_.merge(all);
}

void slot_map::on_moved(std::uint16_t slot, std::uint32_t to) {
    agreed_.clear();
    former_.emplace(slot, server_of_[slot]);
    assign(slot, slot + 1U, to);
}

std::optional<std::uint32_t> slot_map::server_of(std::uint16_t slot) const noexcept {
    return known_server(server_of_[slot]);
}

std::optional<std::uint32_t> slot_map::any_primary() const noexcept {
    auto const at = std::find_if(servers_.begin(), servers_.end(), [](auto const& each) {
        return each.second.slots > 0;
    });
    return at == servers_.end() ? std::nullopt : std::optional{at->first};
}

}  // namespace holdfast::detail
