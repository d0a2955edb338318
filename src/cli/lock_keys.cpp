#include "cli/lock_keys.hpp"

#include "cli/server_texts.hpp"
#include "core/holder_id.hpp"
#include "protocol/derived_keys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace holdfast::cli {

namespace {

using trace_kind = trace::kind;

struct known_word {
    std::string_view word;
    trace_kind what;
};

constexpr std::array words_of_keys{
    known_word{detail::beginning::queue, trace_kind::waited_for},
    known_word{detail::beginning::fair_trust, trace_kind::fair},
    known_word{detail::beginning::rw_queue, trace_kind::read_write},
    known_word{detail::beginning::semaphore_token, trace_kind::semaphore},
    known_word{detail::beginning::semaphore_queue, trace_kind::semaphore},
    known_word{detail::beginning::semaphore_hold, trace_kind::semaphore},
    known_word{detail::beginning::done, trace_kind::counted},
    known_word{detail::beginning::fair_queue, trace_kind::fair},
};
constexpr std::array words_of_channels{
    known_word{detail::beginning::latch_channel, trace_kind::latch},
    known_word{detail::beginning::semaphore_channel, trace_kind::sc},
};

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_uuid(std::string_view text) {
    if (text.size() != detail::holder_id::client_id_length) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !is_hex(text[i])) {
            return false;
        }
    }
    return true;
}

bool is_count(std::string_view text) {
    return whole_number<std::uint64_t>(text).value_or(0) > 0;
}

// `{a}`, with no brace inside that would have been a tag before.
bool is_in_braces(std::string_view name) {
    return name.size() > 2 && name.front() == '{' && name.back() == '}' &&
           name.substr(1).find('{') == std::string_view::npos;
}

// `{a}` is the tag of both `a` and `{a}`; `a{b}c` is its own.
std::vector<std::string> names_of_tag(std::string_view tag) {
    std::vector<std::string> names{std::string{tag}};
    if (is_in_braces(tag)) {
        names.push_back(twin_of(tag));
    }
    return names;
}

template <class Words>
std::optional<trace> trace_of(std::string_view text, Words const& all) {
    for (auto const& known : all) {
        if (text.starts_with(known.word)) {
            auto tag = text.substr(known.word.size());
            if (known.what == trace_kind::counted) {
                // The id of a request follows.
                auto const id = detail::holder_id::client_id_length;
                auto const colon = tag.rfind(':');
                if (colon == std::string_view::npos || colon < id + 1) {
                    return std::nullopt;
                }
                tag = tag.substr(0, colon - id - 1);
            }
            return tag.empty() ? std::nullopt : std::optional{trace{known.what, names_of_tag(tag)}};
        }
    }
    return std::nullopt;
}

}  // namespace

std::string_view name_of(row_kind kind) noexcept {
    switch (kind) {
        case row_kind::lock: return "lock";
        case row_kind::fair_lock: return "fair lock";
        case row_kind::read_write_lock: return "read/write lock";
        case row_kind::semaphore: return "semaphore";
        case row_kind::counting_semaphore: return "counting semaphore";
        case row_kind::latch: return "latch";
        case row_kind::counted: return "latch or counting semaphore";
        case row_kind::number: break;
    }
    return "number";
}

std::optional<trace> trace_of_key(std::string_view key) {
    // The permits that are taken: `{a}:timeout`.
    constexpr auto end = detail::ending::permits;
    if (auto found = trace_of(key, words_of_keys)) {
        return found;
    }
    if (key.ends_with(end) && key.find('{') != std::string_view::npos) {
        return trace{trace_kind::semaphore, names_of_tag(key.substr(0, key.size() - end.size()))};
    }
    return std::nullopt;
}

std::optional<trace> trace_of_channel(std::string_view channel) {
    return trace_of(channel, words_of_channels);
}

bool is_part_of_a_lock(std::string_view key) noexcept {
    // A hold of a reader, and what Redisson remembers of a release, come with the name before or
    // after.
    return key.starts_with("holdfast_") || key.starts_with("redisson_") ||
           key.ends_with(detail::ending::limit) ||
           key.find(detail::ending::reader) != std::string_view::npos;
}

std::string twin_of(std::string_view name) {
    if (is_in_braces(name)) {
        return std::string{name.substr(1, name.size() - 2)};
    }
    return name.find('{') == std::string_view::npos ? "{" + std::string{name} + "}" : std::string{};
}

std::string_view client_id_in(std::string_view holder) noexcept {
    auto const id = holder.substr(0, detail::holder_id::client_id_length);
    return is_uuid(id) && holder.substr(id.size()).starts_with(':') ? id : std::string_view{};
}

bool is_holder_id(std::string_view text) noexcept {
    auto const client = client_id_in(text);
    if (client.empty() || text.ends_with(":write")) {
        return false;
    }
    auto const rest = text.substr(client.size() + 1);
    auto const number = rest.substr(0, rest.find(':'));
    // A transaction's id may follow.
    return whole_number<std::int64_t>(number).has_value() &&
           (number.size() == rest.size() || rest.size() > number.size() + 1);
}

std::optional<std::vector<holder_row>> holders_in(
    std::vector<std::pair<std::string, std::string>> const& hash
) {
    if (hash.size() != 1 || !is_holder_id(hash.front().first) || !is_count(hash.front().second)) {
        return std::nullopt;
    }
    holder_row made{hash.front().first};
    made.count = whole_number<std::uint64_t>(hash.front().second).value_or(1);
    return std::vector{std::move(made)};
}

std::optional<std::vector<holder_row>> readers_and_writer_in(
    std::vector<std::pair<std::string, std::string>> const& hash
) {
    constexpr std::string_view write = ":write";
    bool has_mode = false;
    std::vector<holder_row> made;
    for (auto const& [field, value] : hash) {
        if (field == "mode") {
            has_mode = value == "read" || value == "write";
            continue;
        }
        std::string_view id = field;
        // A transaction's id comes behind the word.
        auto const at = id.find(write);
        bool const writes = at != std::string_view::npos;
        if (writes) {
            id = id.substr(0, at);
        }
        if (!is_holder_id(id) || !is_count(value)) {
            return std::nullopt;
        }
        holder_row one{std::string{id}, writes ? "write" : "read"};
        one.count = whole_number<std::uint64_t>(value).value_or(1);
        made.push_back(std::move(one));
    }
    return has_mode && !made.empty() ? std::optional{std::move(made)} : std::nullopt;
}

std::string_view holder_in_entry(std::string_view entry) noexcept {
    if (!client_id_in(entry).empty()) {
        return entry.substr(0, entry.find(' '));
    }
    auto const space = entry.find(' ');
    auto const rest =
        space == std::string_view::npos ? std::string_view{} : entry.substr(space + 1);
    return client_id_in(rest).empty() ? std::string_view{} : rest;
}

std::optional<std::chrono::microseconds> age_of(
    std::uint64_t token,
    std::uint64_t server_time
) noexcept {
    // 2001. Tokens of Java's own begin at 1.
    constexpr std::uint64_t first_time = 1'000'000'000'000'000;
    if (token < first_time || token > server_time) {
        return std::nullopt;
    }
    return std::chrono::microseconds{server_time - token};
}

clients_by_id clients_in(std::string_view client_list) {
    clients_by_id all;
    for (auto const& one : read_client_list(client_list)) {
        auto const name = text_in(one, "name");
        auto const colon = name.rfind(':');
        if (colon == std::string_view::npos || !is_uuid(name.substr(colon + 1))) {
            continue;
        }
        all.try_emplace(
            std::string{name.substr(colon + 1)},
            client_info{std::string{name.substr(0, colon)}, std::string{text_in(one, "addr")}}
        );
    }
    return all;
}

client_info client_of(clients_by_id const& all, std::string_view holder) {
    auto const found = all.find(client_id_in(holder));
    return found == all.end() ? client_info{} : found->second;
}

// The first half of a permit's id hides its number behind the client's id. The second half is that
// of the client's, but for the permit's index, which is small.
client_info client_of_permit(clients_by_id const& all, std::string_view permit) {
    constexpr std::size_t size = 16;
    if (permit.size() != size) {
        return {};
    }
    client_info found;
    for (auto const& [id, who] : all) {
        std::string bytes;
        std::string digits;
        std::copy_if(id.begin(), id.end(), std::back_inserter(digits), is_hex);
        for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
            unsigned byte = 0;
            std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
            bytes += static_cast<char>(byte);
        }
        // Indices are less than 1000: all but the last two bytes are the client's.
        if (bytes.size() == size && permit.substr(8, 6) == std::string_view{bytes}.substr(8, 6)) {
            if (!found.program.empty() || !found.address.empty()) {
                return {};
            }
            found = who;
        }
    }
    return found;
}

}  // namespace holdfast::cli
