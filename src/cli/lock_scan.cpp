#include "cli/lock_scan.hpp"

#include "cli/holder_connection.hpp"
#include "cli/server_texts.hpp"
#include "protocol/names.hpp"

#include <boost/system/system_error.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace holdfast::cli {

namespace asio = boost::asio;
using boost::redis::request;
using detail::raw_reply;

namespace {

struct known_word {
    std::string_view word;
    lock_kind kind;
};

constexpr std::array words_of_keys{
    known_word{detail::beginning::queue, lock_kind::lock},
    known_word{detail::beginning::fair_trust, lock_kind::fair_lock},
    known_word{detail::beginning::rw_queue, lock_kind::read_write_lock},
    known_word{detail::beginning::semaphore_token, lock_kind::semaphore},
    known_word{detail::beginning::semaphore_queue, lock_kind::semaphore},
    known_word{detail::beginning::semaphore_hold, lock_kind::semaphore},
};
constexpr std::array words_of_channels{
    known_word{detail::beginning::latch_channel, lock_kind::latch},
    known_word{detail::beginning::semaphore_channel, lock_kind::counting_semaphore},
};

// `{a}` is the tag of `a`; `a{b}c` is its own. No lock of ours is called `{a}`.
std::string name_of_tag(std::string_view tag) {
    bool const in_braces = tag.size() > 2 && tag.front() == '{' && tag.back() == '}' &&
                           tag.find('{', 1) == std::string_view::npos;
    return std::string{in_braces ? tag.substr(1, tag.size() - 2) : tag};
}

template <class Words>
std::optional<trace> trace_of(std::string_view text, Words const& all) {
    for (auto const& known : all) {
        if (!text.starts_with(known.word)) {
            continue;
        }
        auto const tag = text.substr(known.word.size());
        return tag.empty() ? std::nullopt : std::optional{trace{known.kind, name_of_tag(tag)}};
    }
    return std::nullopt;
}

[[noreturn]] void fail(raw_reply const& reply) {
    throw boost::system::system_error{
        detail::classify(reply.error).error,
        detail::loggable(reply.error)
    };
}

using names = std::vector<std::string>;
using on_text = std::function<void(std::string_view)>;
using question = std::function<void(request&, std::string const&)>;
using on_answer = std::function<void(std::string const&, std::span<raw_reply const>)>;

asio::awaitable<void> scan(
    server_session& from,
    std::string_view pattern,
    std::string_view type,
    on_text const& tell
) {
    std::string cursor = "0";
    do {
        request ask;
        if (type.empty()) {
            ask.push("SCAN", cursor, "MATCH", pattern, "COUNT", "1000");
        } else {
            ask.push("SCAN", cursor, "MATCH", pattern, "COUNT", "1000", "TYPE", type);
        }
        auto asking = from.ask(ask);
        auto const replies = co_await std::move(asking);
        auto const& reply = replies.front();
        if (reply.is_error) {
            fail(reply);
        }
        if (reply.values.empty()) {
            break;
        }
        cursor = text_of(reply.values.front());
        for (std::size_t i = 1; i < reply.values.size(); ++i) {
            tell(reply.text(i));
        }
    } while (cursor != "0");
}

// Asks the same about each of many.
asio::awaitable<void> ask_each(
    server_session& from,
    names const& all,
    question const& ask,
    on_answer const& tell
) {
    constexpr std::size_t at_once = 200;
    for (std::size_t i = 0; i < all.size(); i += at_once) {
        auto const some = std::span{all}.subspan(i, std::min(at_once, all.size() - i));
        request together;
        for (auto const& one : some) {
            ask(together, one);
        }
        auto asking = from.ask(together);
        auto const replies = co_await std::move(asking);
        for (auto const& reply : replies) {
            // What the user may not ask would look as if it were not there.
            if (reply.is_error && detail::classify(reply.error).error == errc::no_permission) {
                fail(reply);
            }
        }
        auto const each = replies.size() / some.size();
        for (std::size_t k = 0; k < some.size(); ++k) {
            tell(some[k], std::span{replies}.subspan(k * each, each));
        }
    }
}

// The channels of latches and semaphores. Without the right to ask, who waits is not known.
asio::awaitable<names> find_channels(server_session& from, bool sharded) {
    request ask;
    auto const* const which = sharded ? "SHARDCHANNELS" : "CHANNELS";
    for (auto const& known : words_of_channels) {
        ask.push("PUBSUB", which, std::string{known.word} + "*");
    }
    auto asking = from.ask(ask);
    auto const replies = co_await std::move(asking);
    names all;
    for (auto const& reply : replies) {
        for (std::size_t i = 0; !reply.is_error && i < reply.values.size(); ++i) {
            all.emplace_back(reply.text(i));
        }
    }
    co_return all;
}

}  // namespace

std::optional<trace> trace_of_key(std::string_view key) {
    constexpr auto end = detail::ending::permits;
    if (key.ends_with(end) && key.find('{') != std::string_view::npos) {
        // The permits that are taken: `{a}:timeout`.
        return trace{lock_kind::semaphore, name_of_tag(key.substr(0, key.size() - end.size()))};
    }
    return trace_of(key, words_of_keys);
}

std::optional<trace> trace_of_channel(std::string_view channel) {
    return trace_of(channel, words_of_channels);
}

asio::awaitable<candidates> scan_for_locks(server_session& from, std::string pattern) {
    candidates found;
    bool const sharded = from.dialect() == detail::script_dialect::sharded;
    auto const is_wanted = [&](std::optional<trace> const& seen) {
        return seen && ::fnmatch(pattern.c_str(), seen->name.c_str(), 0) == 0;
    };
    auto const note = [&](std::optional<trace> const& seen) -> candidate* {
        if (!is_wanted(seen)) {
            return nullptr;
        }
        auto& made = found[seen->name];
        made.kinds.insert(seen->kind);
        return &made;
    };

    names hashes;
    on_text const on_hash = [&](std::string_view key) { hashes.emplace_back(key); };
    auto scanning = scan(from, pattern, "hash", on_hash);
    co_await std::move(scanning);
    // Of a large hash that is no lock nobody should read all.
    question const what_hash = [](request& to, std::string const& name) {
        to.push("HLEN", name);
        to.push("HGET", name, "mode");
    };
    names with_one_field;
    on_answer const hash_is = [&](std::string const& name, std::span<raw_reply const> said) {
        constexpr std::int64_t most_holders = 10'000;
        auto const size = number_of(said[0]).value_or(0);
        auto const mode = said[1].text(0);
        if (mode == "read" || mode == "write") {
            if (size <= most_holders) {
                found[name].kinds.insert(lock_kind::read_write_lock);
            }
        } else if (size == 1) {
            with_one_field.push_back(name);
        }
    };
    auto looking = ask_each(from, hashes, what_hash, hash_is);
    co_await std::move(looking);
    // The field of a lock is its holder. Other programs have many hashes with one field.
    question const what_field = [](request& to, std::string const& name) {
        to.push("HKEYS", name);
    };
    on_answer const field_is = [&](std::string const& name, std::span<raw_reply const> said) {
        if (!client_id_of(said[0].text(0)).empty()) {
            found[name].kinds.insert(lock_kind::lock);
        }
    };
    auto looking_at_fields = ask_each(from, with_one_field, what_field, field_is);
    co_await std::move(looking_at_fields);

    on_text const on_key = [&](std::string_view key) { note(trace_of_key(key)); };
    auto ours = scan(from, "holdfast_*:*", {}, on_key);
    co_await std::move(ours);

    names sets;
    // The user may not read those of others.
    on_text const on_set = [&](std::string_view key) {
        if (is_wanted(trace_of_key(key))) {
            sets.emplace_back(key);
        }
    };
    auto permits = scan(from, "*:timeout", "zset", on_set);
    co_await std::move(permits);
    // Other programs have such sets, too: the id of a permit has 16 bytes.
    question const what_set = [](request& to, std::string const& key) {
        to.push("ZRANGE", key, "0", "0");
    };
    on_answer const set_is = [&](std::string const& key, std::span<raw_reply const> said) {
        constexpr std::size_t permit_size = 16;
        if (said[0].text(0).size() == permit_size) {
            note(trace_of_key(key));
        }
    };
    auto looking_at_sets = ask_each(from, sets, what_set, set_is);
    co_await std::move(looking_at_sets);

    auto finding = find_channels(from, sharded);
    auto const channels = co_await std::move(finding);
    question const who_listens = [&](request& to, std::string const& channel) {
        to.push("PUBSUB", sharded ? "SHARDNUMSUB" : "NUMSUB", channel);
    };
    on_answer const so_many = [&](std::string const& channel, std::span<raw_reply const> said) {
        if (auto* const of = note(trace_of_channel(channel)); of != nullptr) {
            of->listeners += count_of(read_pairs(said[0]), channel);
        }
    };
    auto counting = ask_each(from, channels, who_listens, so_many);
    co_await std::move(counting);

    // Keys of locks look like names, and names that other libraries allow may be those of no lock.
    auto const& settings = from.settings();
    auto const prefix = settings.key_prefix.size();
    candidates without_prefix;
    for (auto& [name, seen] : found) {
        auto own = name.substr(prefix);
        if (detail::fault_of_name(settings, own).empty()) {
            without_prefix.emplace(std::move(own), std::move(seen));
        }
    }
    co_return without_prefix;
}

}  // namespace holdfast::cli
