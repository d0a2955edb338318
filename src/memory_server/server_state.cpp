#include "memory_server/server_state.hpp"

#include <algorithm>

namespace holdfast::memory {

std::string* hash_value::find(std::string_view name) {
    auto const at = std::ranges::find(fields_, name, &field::first);
    return at == fields_.end() ? nullptr : &at->second;
}

bool hash_value::set(std::string_view name, std::string_view content) {
    if (auto* const there = find(name)) {
        *there = content;
        return false;
    }
    fields_.emplace_back(name, content);
    return true;
}

bool hash_value::erase(std::string_view name) {
    auto const at = std::ranges::find(fields_, name, &field::first);
    if (at == fields_.end()) {
        return false;
    }
    fields_.erase(at);
    return true;
}

std::optional<double> sorted_set_value::score(std::string_view member) const {
    auto const at = scores_.find(member);
    return at == scores_.end() ? std::nullopt : std::optional{at->second};
}

void sorted_set_value::set(std::string_view member, double score) {
    auto const at = scores_.find(member);
    if (at == scores_.end()) {
        scores_.emplace(member, score);
    } else {
        order_.erase({at->second, at->first});
        at->second = score;
    }
    order_.emplace(score, member);
}

bool sorted_set_value::erase(std::string_view member) {
    auto const at = scores_.find(member);
    if (at == scores_.end()) {
        return false;
    }
    order_.erase({at->second, at->first});
    scores_.erase(at);
    return true;
}

char const* type_name(entry const& key) {
    constexpr char const* names[] = {"string", "hash", "list", "zset"};
    return names[key.content.index()];
}

entry* database::find(std::string_view key, std::int64_t now_ms) {
    auto const at = entries_.find(key);
    return at == entries_.end() || at->second.ended(now_ms) ? nullptr : &at->second;
}

entry const* database::find(std::string_view key, std::int64_t now_ms) const {
    auto const at = entries_.find(key);
    return at == entries_.end() || at->second.ended(now_ms) ? nullptr : &at->second;
}

entry& database::put(std::string_view key, entry made) {
    auto const at = entries_.find(key);
    auto& place = at == entries_.end() ? entries_.emplace(key, entry{}).first->second : at->second;
    place = std::move(made);
    note_end(place.end);
    return place;
}

bool database::erase(std::string_view key) {
    auto const at = entries_.find(key);
    if (at == entries_.end()) {
        return false;
    }
    entries_.erase(at);
    return true;
}

void database::clear() {
    entries_.clear();
    first_end_ = no_end;
}

void database::set_end(entry& key, std::int64_t end) {
    key.end = end;
    note_end(end);
}

void database::note_end(std::int64_t end) {
    if (end != entry::never) {
        first_end_ = std::min(first_end_, end);
    }
}

void database::sweep(std::int64_t now_ms) {
    if (now_ms <= first_end_) {
        return;
    }
    first_end_ = no_end;
    for (auto at = entries_.begin(); at != entries_.end();) {
        if (at->second.ended(now_ms)) {
            at = entries_.erase(at);
        } else {
            note_end(at->second.end);
            ++at;
        }
    }
}

void server_state::sweep() {
    for (auto& one : databases()) {
        one.sweep(now_ms());
    }
}

namespace {

void remove_from(channel_map& channels, std::vector<std::string>& names, session& who) {
    for (auto const& name : names) {
        auto const at = channels.find(name);
        std::erase(at->second, &who);
        if (at->second.empty()) {
            channels.erase(at);
        }
    }
    names.clear();
}

}  // namespace

void server_state::unsubscribe_all(session& who) {
    remove_from(channels, who.channels, who);
    remove_from(shard_channels, who.shard_channels, who);
}

}  // namespace holdfast::memory
