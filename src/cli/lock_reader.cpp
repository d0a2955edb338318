#include "cli/lock_reader.hpp"

#include "cli/server_texts.hpp"
#include "protocol/counting_semaphore.hpp"
#include "protocol/fair_lock.hpp"
#include "protocol/latch.hpp"
#include "protocol/lock.hpp"
#include "protocol/names.hpp"
#include "protocol/read_write_lock.hpp"
#include "protocol/semaphore.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace holdfast::cli {

namespace {

using replies_of_one = std::span<detail::raw_reply const>;
using std::chrono::milliseconds;

// The number of the last one that is asked for.
std::string last_waiter() {
    return std::to_string(most_waiters_named - 1);
}

std::vector<std::pair<std::string, std::string>> pairs_in(detail::raw_reply const& reply) {
    std::vector<std::pair<std::string, std::string>> pairs;
    if (!reply.is_error) {
        for (std::size_t i = 0; i + 1 < reply.values.size(); i += 2) {
            pairs.emplace_back(text_of(reply.values[i]), text_of(reply.values[i + 1]));
        }
    }
    return pairs;
}

std::uint64_t token_in(detail::raw_reply const& reply) {
    return whole_number<std::uint64_t>(reply.text(0)).value_or(0);
}

std::uint64_t size_in(detail::raw_reply const& reply) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number_of(reply).value_or(0), 0));
}

void add_waiters(lock_row& to, detail::raw_reply const& entries, surroundings const& in) {
    for (std::size_t i = 0; !entries.is_error && i < entries.values.size(); ++i) {
        auto const id = holder_in_entry(entries.text(i));
        if (!id.empty() && to.waiters.size() < most_waiters_named) {
            to.waiters.push_back({std::string{id}, client_of(*in.clients, id)});
        }
    }
}

std::string hex_of(std::string_view bytes) {
    std::string text;
    for (char const c : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    }
    return text;
}

// A score: the server's time in ms. It may come as `1.7e+12`.
std::optional<double> score_in(std::string_view text) {
    double score = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), score);
    bool const whole = ec == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional{score} : std::nullopt;
}

}  // namespace

void name_look::ask(boost::redis::request& to, std::string_view name) {
    to.push("HLEN", name);
    to.push("HGET", name, "mode");
    to.push("PTTL", name);
}

name_look::name_look(replies_of_one replies)
    : fields_{number_of(replies[0]).value_or(0)},
      has_mode_{replies[1].text(0) == "read" || replies[1].text(0) == "write"},
      pttl_{number_of(replies[2]).value_or(-2)} {}

std::optional<milliseconds> name_look::remaining() const noexcept {
    return pttl_ >= 0 ? std::optional{milliseconds{pttl_}} : std::nullopt;
}

std::string row_look::hold_key(std::string_view name, std::string_view reader) {
    return detail::tag_of(name)
        .append(":")
        .append(reader)
        .append(detail::ending::reader)
        .append("1");
}

row_look::row_look(std::string name, candidate const& seen, name_look const& first, bool sharded)
    : name_{std::move(name)},
      seen_{seen},
      first_{first} {
    auto const has = [&](trace::kind what) { return seen.traces.contains(what); };
    auto const lock = detail::make_lock_target({}, name_);
    if (!lock.valid()) {
        return;
    }
    auto const text = [](std::string_view part) { return std::string{part}; };
    bool const nothing_there = !first.remaining() && !first.may_be_lock();
    if (first.has_mode() || (has(trace::kind::read_write) && nothing_there)) {
        auto const of = detail::make_read_lock_target({}, name_);
        as_ = as::read_write;
        add({"HGETALL", name_});
        add({"GET", text(of.counter())});
        add({"ZRANGE", text(of.queue()), "0", last_waiter()});
        add({"ZCARD", text(of.queue())});
    } else if (first.may_be_lock()) {
        as_ = as::lock;
    } else if (has(trace::kind::semaphore)) {
        auto const of = detail::make_semaphore_target({}, name_);
        as_ = as::semaphore;
        add({"GET", name_});
        add(
            {"ZRANGE",
             detail::tag_of(name_).append(detail::ending::permits),
             "0",
             "999",
             "WITHSCORES"}
        );
        add({"GET", text(of.counter())});
        add({"ZRANGE", text(of.queue()), "0", last_waiter()});
        add({"ZCARD", text(of.queue())});
    } else if (has(trace::kind::latch) || has(trace::kind::sc) || has(trace::kind::counted)) {
        as_ = as::counted;
        auto const* const count = sharded ? "SHARDNUMSUB" : "NUMSUB";
        auto const latch = detail::make_latch_target({}, name_, sharded);
        auto const semaphore = detail::make_counting_semaphore_target({}, name_);
        add({"GET", name_});
        add({"PUBSUB", count, text(latch.channel())});
        add({"PUBSUB", count, text(semaphore.channel())});
    } else if (has(trace::kind::waited_for) || has(trace::kind::fair)) {
        as_ = as::lock;
    } else if (seen.is_number) {
        as_ = as::number;
        add({"GET", name_});
    }
    if (as_ == as::lock) {
        auto const fair = detail::make_fair_lock_target({}, name_);
        add({"HGETALL", name_});
        add({"GET", text(lock.counter())});
        add({"ZRANGE", text(lock.queue()), "0", last_waiter()});
        // The queue's other member is no client: its score is less, or greater than any time.
        add({"ZCOUNT", text(lock.queue()), "0", "4000000000000000"});
        add({"LRANGE", text(fair.queue()), "0", last_waiter()});
        add({"LLEN", text(fair.queue())});
    }
}

void row_look::ask(boost::redis::request& to) const {
    for (auto const& words : asked_) {
        to.push_range(words.front(), words.begin() + 1, words.end());
    }
}

std::optional<lock_row> row_look::read(replies_of_one replies, surroundings const& in) const {
    std::optional<lock_row> row;
    switch (as_) {
        case as::lock: row = read_lock(replies, in); break;
        case as::read_write: row = read_read_write_lock(replies, in); break;
        case as::semaphore: row = read_semaphore(replies, in); break;
        case as::counted:
        case as::number: row = read_counted(replies); break;
        case as::nothing: break;
    }
    if (row) {
        row->name = name_;
        if (!row->holders.empty()) {
            row->age = age_of(row->token, in.server_time);
        }
    }
    return row;
}

std::optional<lock_row> row_look::read_lock(replies_of_one replies, surroundings const& in) const {
    lock_row row;
    if (auto const held = pairs_in(replies[0]); !held.empty()) {
        auto holders = holders_in(held);
        if (!holders) {
            return std::nullopt;
        }
        row.holders = std::move(*holders);
        row.holders.front().remaining = first_.remaining();
        row.holders.front().who = client_of(*in.clients, row.holders.front().id);
    }
    row.token = token_in(replies[1]);
    add_waiters(row, replies[2], in);
    add_waiters(row, replies[4], in);
    auto const in_line = size_in(replies[5]);
    row.waiting = size_in(replies[3]) + in_line;
    if (in_line > 0 || seen_.traces.contains(trace::kind::fair)) {
        row.kind = row_kind::fair_lock;
    }
    return row.holders.empty() && row.waiting == 0 ? std::nullopt : std::optional{std::move(row)};
}

std::optional<lock_row> row_look::read_read_write_lock(
    replies_of_one replies,
    surroundings const& in
) const {
    lock_row row;
    row.kind = row_kind::read_write_lock;
    if (auto const held = pairs_in(replies[0]); !held.empty()) {
        auto holders = readers_and_writer_in(held);
        if (!holders) {
            return std::nullopt;
        }
        row.holders = std::move(*holders);
        for (auto& one : row.holders) {
            one.remaining = first_.remaining();
            one.who = client_of(*in.clients, one.id);
        }
    }
    row.token = token_in(replies[1]);
    add_waiters(row, replies[2], in);
    row.waiting = size_in(replies[3]);
    return row.holders.empty() && row.waiting == 0 ? std::nullopt : std::optional{std::move(row)};
}

std::optional<lock_row> row_look::read_semaphore(replies_of_one replies, surroundings const& in)
    const {
    lock_row row;
    row.kind = row_kind::semaphore;
    row.number = number_of(replies[0]);
    auto const now = static_cast<double>(in.server_time) / 1e3;
    for (auto const& [id, score] : pairs_in(replies[1])) {
        constexpr std::size_t permit_size = 16;
        auto const until = score_in(score);
        if (id.size() != permit_size || !until) {
            return std::nullopt;
        }
        // One that is over comes back with the next request.
        if (*until > now) {
            holder_row one{hex_of(id)};
            one.remaining = milliseconds{static_cast<milliseconds::rep>(*until - now)};
            one.who = client_of_permit(*in.clients, id);
            row.holders.push_back(std::move(one));
        } else if (row.number) {
            ++*row.number;
        }
    }
    row.token = token_in(replies[2]);
    add_waiters(row, replies[3], in);
    row.waiting = size_in(replies[4]);
    return row.number ? std::optional{std::move(row)} : std::nullopt;
}

std::optional<lock_row> row_look::read_counted(replies_of_one replies) const {
    lock_row row;
    row.number = number_of(replies[0]);
    if (as_ == as::number) {
        row.kind = row_kind::number;
        return row.number ? std::optional{std::move(row)} : std::nullopt;
    }
    auto const listeners = [](detail::raw_reply const& reply) -> std::uint64_t {
        auto const said = read_pairs(reply);
        return said.empty() ? 0 : whole_number<std::uint64_t>(said.begin()->second).value_or(0);
    };
    auto const of_latch = listeners(replies[1]);
    auto const of_semaphore = listeners(replies[2]);
    bool const is_latch = of_latch > 0 || seen_.traces.contains(trace::kind::latch);
    bool const is_semaphore = of_semaphore > 0 || seen_.traces.contains(trace::kind::sc);
    row.kind = is_latch == is_semaphore ? row_kind::counted
               : is_latch               ? row_kind::latch
                                        : row_kind::counting_semaphore;
    row.waiting = of_latch + of_semaphore;
    // A latch that nobody has set is open, and a semaphore without a number has no permits.
    return row.number || row.waiting > 0 ? std::optional{std::move(row)} : std::nullopt;
}

}  // namespace holdfast::cli
