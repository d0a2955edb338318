#include "simulation/reading_judge.hpp"

#include "protocol/read_write_lock.hpp"
#include "protocol/reply.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

constexpr std::string_view write_end = ":write";

}  // namespace

reading_judge::reading_judge(world& in, server& of, std::function<void(sometimes)> reached)
    : in_{in},
      server_{of},
      reached_{std::move(reached)} {}

std::int64_t reading_judge::left_of(std::string_view lock, std::string_view reader) {
    return server_.data().pttl(fmt::format("{}:{}:rwlock_timeout:1", tagged(lock), reader));
}

void reading_judge::on_before(std::string_view lock) {
    auto& known = locks_[std::string{lock}];
    known.queue.clear();
    known.holders.clear();
    known.writer.clear();
    auto const target = detail::make_read_lock_target({}, lock);
    auto const queue = server_.as_operator({"ZRANGE", target.queue(), "0", "-1"});
    for (auto const& one : queue.elements) {
        known.queue.push_back(one.text);
    }
    for (auto const& [field, count] : server_.data().hgetall(std::string{lock})) {
        if (field.ends_with(write_end)) {
            known.writer = field.substr(0, field.size() - write_end.size());
            known.holders.push_back(known.writer);
        } else if (field != "mode" && left_of(lock, field) > 0) {
            known.holders.push_back(field);
        }
    }
}

std::vector<std::string> const& reading_judge::holders_before(std::string_view lock) {
    return locks_[std::string{lock}].holders;
}

bool reading_judge::reads_beside(
    std::string_view lock,
    std::string_view reader,
    std::string_view writer
) const {
    auto const known = locks_.find(lock);
    if (known == locks_.end()) {
        return false;
    }
    auto const found = known->second.beside.find(reader);
    return found != known->second.beside.end() && found->second == writer;
}

void reading_judge::on_script(script_event const& what) {
    auto& known = locks_[std::string{what.lock}];
    detail::script_reply const said{what.reply->text};
    bool const asks = what.does == "acquire";
    if (what.reply->is_error()) {
        return;
    }
    auto const own = (what.script.starts_with("read") ? "r " : "w ") + std::string{what.holder};
    if (asks && said.integer(0, -1) == 0 && said.integer(3) > 0) {
        known.heard_at[own] = in_.now();
        placed_late_ = placed_late_ || what.late;
    } else if (asks && said.integer(0, -1) == 1) {
        judge_turn(known, what, own);
    }
    judge_holders(known, what.lock);
}

void reading_judge::judge_turn(history& known, script_event const& what, std::string const& own) {
    auto const& holders = known.holders;
    if (std::find(holders.begin(), holders.end(), what.holder) != holders.end()) {
        return;  // once more
    }
    bool const reads = own.starts_with('r');
    if (reads && !known.writer.empty() && what.does == "acquire") {
        known.beside[std::string{what.holder}] = known.writer;
        reached_(sometimes::read_beside_writing);
        return;
    }
    for (auto const& one : known.queue) {
        if (one == own) {
            break;
        }
        if (reads && one.starts_with('r')) {
            continue;
        }
        auto const heard = known.heard_at.find(one);
        // Clocks differ by less than that.
        nanos const shortest = patience_ - patience_ / 50 - 2ms;
        if (heard == known.heard_at.end() || in_.now() - heard->second >= shortest) {
            reached_(sometimes::silent_passed_over);
        } else if (last_step_ + 2 * patience_ < in_.now()) {
            in_.violation(fmt::format(
                "{} goes to {} before the turn of {}, which came first and was heard of",
                what.lock,
                own,
                one
            ));
        }
    }
    if (!known.queue.empty()) {
        reached_(reads ? sometimes::reader_granted_in_turn : sometimes::writer_granted_in_turn);
    }
    if (reads && !holders.empty()) {
        reached_(sometimes::several_read);
    }
}

// By the server's data: many readers, or one writer and what it reads itself.
void reading_judge::judge_holders(history const& known, std::string_view lock) {
    std::string writer;
    std::vector<std::string> readers;
    for (auto const& [field, count] : server_.data().hgetall(std::string{lock})) {
        if (field.ends_with(write_end)) {
            if (!writer.empty()) {
                in_.violation(fmt::format("{} has two writers", lock));
            }
            writer = field.substr(0, field.size() - write_end.size());
        } else if (field != "mode" && left_of(lock, field) > 0) {
            readers.push_back(field);
        }
    }
    for (auto const& reader : readers) {
        auto const beside = known.beside.find(reader);
        if (!writer.empty() && (beside == known.beside.end() || beside->second != writer)) {
            in_.violation(fmt::format("{} has the reader {} beside a writer", lock, reader));
        }
    }
}

}  // namespace holdfast::sim
