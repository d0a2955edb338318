#include "protocol/names.hpp"

#include "core/holder_id.hpp"
#include "core/lease_terms.hpp"
#include "protocol/slot.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::detail {

namespace {

// `{a}` has the derived keys of `a`: it is what the tag of a name without a `{` looks like.
bool is_tag_of_another(std::string_view full) {
    // mutant: name-in-braces-accepted
    return full.starts_with('{') && full.ends_with('}') &&
           full.find('{', 1) == std::string_view::npos;
}

// What `full` begins with if it looks like a derived key.
std::string_view derived_beginning(std::string_view full) {
    auto const* const found = std::ranges::find_if(beginning::all, [full](std::string_view one) {
        return full.starts_with(one);
    });
    return found == beginning::all.end() ? std::string_view{} : *found;
}

// `:` and the id of a client, as in a holder id.
bool ends_with_client_id(std::string_view text) {
    constexpr auto length = holder_id::client_id_length;
    if (text.size() <= length || text[text.size() - length - 1] != ':') {
        return false;
    }
    auto const id = text.substr(text.size() - length);
    return id.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos &&
           id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-';
}

// What it ends with. A tag contains a `{`, so no other name can be such a key.
std::string_view derived_ending(std::string_view full) {
    if (full.find('{') == std::string_view::npos) {
        return {};
    }
    for (auto const ends : {ending::permits, ending::limit}) {
        if (full.ends_with(ends)) {
            return ends;
        }
    }
    auto const before = full.substr(0, full.find_last_not_of("0123456789") + 1);
    if (before.size() == full.size()) {
        return {};
    }
    if (before.ends_with(ending::reader)) {
        return ending::reader;
    }
    bool const holder =
        before.ends_with(':') && ends_with_client_id(before.substr(0, before.size() - 1));
    return holder ? "a holder id" : std::string_view{};
}

// Of a client with any prefix: each has `holdfast_server` behind its own, in a cluster with a
// number in braces.
bool is_server_key(std::string_view full) {
    auto const tag = full.rfind(":{");
    bool const tagged = tag != full.npos &&
                        full.find_first_not_of("0123456789", tag + 2) + 1 == full.size() &&
                        full.ends_with('}');
    return (tagged ? full.substr(0, tag) : full).ends_with(server_word);
}

// A brace that is not closed, or an empty pair of them, may keep the derived keys apart.
bool has_one_slot(std::string_view full) {
    return slot_of(":" + tag_of(full)) == slot_of(full);
}

// Of a name with its prefix.
std::string fault_of(config const& settings, std::string_view full) {
    constexpr std::size_t longest_shown = 128;
    auto const shown = [](std::string_view text) {
        return fmt::format("\"{}\"", escaped(text, longest_shown));
    };
    if (full.size() > max_name_length) {
        return fmt::format(
            "a name has at most {} bytes, the key prefix included: {} has {}",
            max_name_length,
            escaped(full.substr(0, 32)),
            full.size()
        );
    }
    if (is_tag_of_another(full)) {
        auto const inner = full.substr(1, full.size() - 2);
        return fmt::format(
            "{} has the same queue, counter and channel as {}: leave out the outer braces, or "
            "write "
            "something before or behind them",
            shown(full),
            shown(inner)
        );
    }
    if (auto const begins = derived_beginning(full); !begins.empty()) {
        return fmt::format(
            "{} begins as a key of another lock does ({}): write something else before it",
            shown(full),
            shown(begins)
        );
    }
    if (auto const ends = derived_ending(full); !ends.empty()) {
        return fmt::format(
            "{} contains a brace and ends as a key of another lock does ({}): leave out the "
            "braces, or write something behind it",
            shown(full),
            shown(ends)
        );
    }
    if (is_server_key(full)) {
        return fmt::format(
            "{} ends as the key in which clients note which server they know ({}): choose another "
            "name",
            shown(full),
            shown(server_word)
        );
    }
    if (!settings.cluster_nodes.empty() && !has_one_slot(full)) {
        return fmt::format(
            "the braces in {} put its keys into different slots of the cluster: leave them out, or "
            "write one complete tag, as in order:{{42}}:lines",
            shown(full)
        );
    }
    return {};
}

}  // namespace

std::string tag_of(std::string_view full) {
    bool const tagged = full.find('{') != std::string_view::npos;
    return tagged ? std::string{full} : std::string{"{"}.append(full).append("}");
}

std::string fault_of_name(config const& settings, std::string_view name) {
    if (name.empty()) {
        return "the name is empty";
    }
    return fault_of(settings, settings.key_prefix + std::string{name});
}

target allowed_by(config const& settings, target made) {
    if (made.valid() && !fault_of(settings, made.lock).empty()) {
        made.lock.clear();
    }
    return made;
}

}  // namespace holdfast::detail
