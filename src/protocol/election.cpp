#include "protocol/election.hpp"

#include "protocol/lock.hpp"
#include "protocol/names.hpp"
#include "protocol/scripts.hpp"
#include "protocol/words.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace holdfast::detail {

namespace {

// So many leaders are asked for at a time.
constexpr std::int64_t most_found = 32;

// A number and the space behind it, which are taken off the text.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    auto const word = text.substr(0, text.find(' '));
    std::uint64_t value = 0;
    auto const [end, ec] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || ec != std::errc{} || end != word.data() + word.size()) {
        return std::nullopt;
    }
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return value;
}

std::optional<leader_place> take_place(std::string_view& text) {
    auto const number = take_number(text);
    auto const term = take_number(text);
    auto const change = take_number(text);
    if (!number || !term || !change) {
        return std::nullopt;
    }
    return leader_place{*number, {*term}, *change};
}

// The script has seen to it that it is one.
std::optional<leader_record> record_in(std::string_view element) {
    auto const place = take_place(element);
    auto const space = element.find(' ');
    if (!place || space == std::string_view::npos) {
        return std::nullopt;
    }
    leader_info who{
        place->term,
        std::string{element.substr(space + 1)},
        std::string{element.substr(0, space)}
    };
    return leader_record{*place, std::move(who)};
}

}  // namespace

election_keys make_election_keys(config const& settings, std::string_view name) {
    auto const& prefix = settings.key_prefix;
    auto const beside = make_target(
        lock_protocol(),
        target_kind::lock,
        prefix,
        name,
        {beginning::leaders, beginning::leader, "", ""}
    );
    auto lock = allowed_by(settings, make_lock_target(prefix, name));
    return {
        std::make_shared<target const>(std::move(lock)),
        std::string{beside.parts[0]},
        std::string{beside.parts[1]},
    };
}

call proclaim(proclamation const& what) {
    call sent{scripts::election_proclaim, what.timeout};
    sent.key_of(*what.of.lock).key(what.of.history).key(what.of.channel);
    sent.arg(what.holder.view())
        .arg(signed_of(what.term.value))
        .arg(signed_of(what.change))
        .arg(what.ttl.count())
        .arg(election_keys::kept)
        .arg(what.value);
    return sent;
}

proclaim_reply read_proclaim(script_reply const& reply) {
    using kind = proclaim_reply::kind;
    switch (reply.integer(0, 2)) {
        case 0: return {kind::not_leader, true};
        case 1: return {kind::proclaimed, reply.integer(2) == 1};
        default: return {};
    }
}

call look(
    election_keys const& of,
    std::optional<leader_place> const& seen,
    std::chrono::nanoseconds timeout
) {
    call sent{scripts::election_look, timeout};
    sent.key_of(*of.lock).key(of.history);
    if (seen) {
        sent.arg(signed_of(seen->number))
            .arg(signed_of(seen->term.value))
            .arg(signed_of(seen->change))
            .arg(most_found);
    }
    return sent;
}

std::optional<leader_look> read_look(script_reply const& reply) {
    auto const remaining = reply.integer(0, -3);
    auto const count = reply.integer(6, -1);
    if (remaining < -2 || count < 0 || count > most_found) {
        return std::nullopt;
    }
    leader_look read{
        .remaining = std::nullopt,
        .held = remaining != -2,
        .leading = reply.integer(1) == 1,
        .newest =
            {unsigned_of(reply.integer(2)),
             {unsigned_of(reply.integer(3))},
             unsigned_of(reply.integer(4))},
        .missed = reply.integer(5) == 1,
        .found = {},
    };
    if (remaining >= 0) {
        read.remaining = std::chrono::milliseconds{remaining};
    }
    auto const elements = static_cast<std::size_t>(count);
    auto rest = reply.rest(7);
    std::vector<std::size_t> lengths;
    for (std::size_t i = 0; i < elements; ++i) {
        auto const length = take_number(rest);
        if (!length) {
            return std::nullopt;
        }
        lengths.push_back(*length);
    }
    for (auto const length : lengths) {
        auto one = record_in(rest.substr(0, length));
        if (!one || length > rest.size()) {
            return std::nullopt;
        }
        rest.remove_prefix(length);
        read.found.push_back(std::move(*one));
    }
    return read;
}

std::optional<leader_place> read_announcement(std::string_view message) {
    auto const place = take_place(message);
    return place && message.empty() ? place : std::nullopt;
}

}  // namespace holdfast::detail
