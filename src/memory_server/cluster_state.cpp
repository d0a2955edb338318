#include "memory_server/cluster_state.hpp"

#include "memory_server/commands.hpp"

#include <algorithm>

namespace holdfast::memory {

namespace {

constexpr std::string_view crossed = "CROSSSLOT Keys in request don't hash to the same slot";
constexpr std::string_view apart = "TRYAGAIN Multiple keys request during rehashing of slot";
constexpr std::string_view not_served = "CLUSTERDOWN Hash slot not served";

bool is_sharded(command_spec const& command) {
    return command.name == "ssubscribe" || command.name == "sunsubscribe" ||
           command.name == "spublish";
}

// The keys of a command, and the channels that have slots.
std::vector<std::string_view> keys_in(command_spec const& command, redis_model::words words) {
    constexpr word_range all_words{1, -1};
    auto const where = !is_sharded(command)             ? keys_of(command, words)
                       : command.name == "sunsubscribe" ? all_words
                                                        : command.channels;
    std::vector<std::string_view> keys;
    all_words_of(where, words, [&](std::string_view word) {
        keys.push_back(word);
        return true;
    });
    return keys;
}

value redirect(std::string_view how, std::uint16_t slot, cluster_view::node const& to) {
    return value::error(
        std::string{how} + " " + std::to_string(slot) + " " + to.host + ":" +
        std::to_string(to.port)
    );
}

}  // namespace

bool cluster_state::serves(std::uint16_t slot) const {
    auto const owner = view.owners[slot];
    return owner == view.self ||
           (owner != cluster_view::nobody && view.nodes[view.self].replica_of == owner);
}

bool cluster_state::has(std::string_view key) const {
    auto const slot = detail::slot_of(key);
    if (auto const at = coming.find(slot); at != coming.end()) {
        return at->second->arrived.contains(key);
    }
    auto const at = leaving.find(slot);
    return at == leaving.end() || !at->second->arrived.contains(key);
}

// In the order in which the server looks.
std::optional<value> redirection_of(command_call const& of, command_spec const& command) {
    auto const& cluster = of.server.cluster;
    if (!cluster || of.who.obeyed) {
        return std::nullopt;
    }
    auto const keys = keys_in(command, of.words);
    if (keys.empty()) {
        return std::nullopt;
    }
    auto const slot = detail::slot_of(keys.front());
    if (std::any_of(keys.begin(), keys.end(), [&](auto key) {
            return detail::slot_of(key) != slot;
        })) {
        return value::error(crossed);
    }
    auto const owner = cluster->view.owners[slot];
    if (owner == cluster_view::nobody) {
        return value::error(not_served);
    }
    if (is_sharded(command)) {
        return cluster->serves(slot)
                   ? std::nullopt
                   : std::optional{redirect("MOVED", slot, cluster->view.nodes[owner])};
    }
    auto const is_there = [&](std::string_view key) {
        return of.data().find(key, of.now_ms()) != nullptr && cluster->has(key);
    };
    auto const there = static_cast<std::size_t>(std::count_if(keys.begin(), keys.end(), is_there));
    if (auto const at = cluster->leaving.find(slot);
        at != cluster->leaving.end() && there < keys.size()) {
        return there > 0 ? value::error(apart)
                         : redirect("ASK", slot, cluster->view.nodes[at->second->to]);
    }
    if (of.asking && cluster->coming.contains(slot)) {
        return keys.size() > 1 && there < keys.size() ? std::optional{value::error(apart)}
                                                      : std::nullopt;
    }
    return cluster->is_mine(slot)
               ? std::nullopt
               : std::optional{redirect("MOVED", slot, cluster->view.nodes[owner])};
}

bool are_local(server_state const& server, command_spec const& command, redis_model::words words) {
    auto const keys = keys_in(command, words);
    return !server.cluster || std::all_of(keys.begin(), keys.end(), [&](std::string_view key) {
        auto const slot = detail::slot_of(key);
        return server.cluster->is_mine(slot) || server.cluster->coming.contains(slot);
    });
}

arrivals::arrivals(command_call const& of, command_spec const& command) : server_{of.server} {
    if (!server_.cluster || server_.cluster->coming.empty()) {
        return;
    }
    auto const words = keys_in(command, of.words);
    auto const& coming = server_.cluster->coming;
    auto const at = words.empty() ? coming.end() : coming.find(detail::slot_of(words.front()));
    if (at != coming.end()) {
        moving_ = at->second;
        elsewhere_ = keys_to_come(server_, *moving_);
    }
}

arrivals::~arrivals() {
    if (moving_) {
        for (auto const& key : keys_to_come(server_, *moving_)) {
            if (!elsewhere_.contains(key)) {
                moving_->arrived.insert(key);
            }
        }
    }
}

std::set<std::string, std::less<>> keys_to_come(
    server_state const& server,
    moving_slot const& moving
) {
    std::set<std::string, std::less<>> found;
    for (auto const& [key, content] : server.databases().front().entries()) {
        if (detail::slot_of(key) == moving.slot && !moving.arrived.contains(key)) {
            found.insert(key);
        }
    }
    return found;
}

}  // namespace holdfast::memory
