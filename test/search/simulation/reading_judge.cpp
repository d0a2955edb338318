#include "simulation/reading_judge.hpp"

#include "protocol/read_write_lock.hpp"
#include "protocol/reply.hpp"
#include "support/history/standing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

constexpr std::string_view write_end = ":write";

}  // namespace

reading_judge::reading_judge(
    world& in,
    server& of,
    queue_judge& queue,
    std::function<void(sometimes)> reached
)
    : in_{in},
      server_{of},
      queue_{queue},
      reached_{std::move(reached)} {}

std::int64_t reading_judge::left_of(std::string_view lock, std::string_view reader) {
    return server_.data().pttl(fmt::format("{}:{}:rwlock_timeout:1", tagged(lock), reader));
}

void reading_judge::on_before(std::string_view lock) {
    auto& known = locks_[std::string{lock}];
    known.holders.clear();
    known.writer.clear();
    auto const target = detail::make_read_lock_target({}, lock);
    queue_.on_before(lock, server_.as_operator({"ZRANGE", target.queue(), "0", "-1"}));
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

std::string_view reading_judge::writer_of(std::string_view lock, std::string_view reader) const {
    auto const known = locks_.find(lock);
    if (known == locks_.end()) {
        return {};
    }
    auto const found = known->second.beside.find(reader);
    return found == known->second.beside.end() ? std::string_view{} : found->second;
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
        queue_.on_placed(what, own);
    } else if (asks && said.integer(0, -1) == 1) {
        judge_turn(known, what, own);
    }
    judge_holders(what.lock);
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
    auto const in_turn =
        reads ? sometimes::reader_granted_in_turn : sometimes::writer_granted_in_turn;
    auto const reads_too = [reads](std::string_view one, std::string_view) {
        return reads && one.starts_with('r');
    };
    queue_.on_granted(what, own, in_turn, reads_too, 2ms);
    if (reads && !holders.empty()) {
        reached_(sometimes::several_read);
    }
}

// By the server's data: many readers, or one writer and what it reads itself.
void reading_judge::judge_holders(std::string_view lock) {
    holdfast::history::standing<std::string_view> holders;
    auto const fields = server_.data().hgetall(std::string{lock});
    for (auto const& one : fields) {
        std::string_view const field = one.first;
        bool const writes = field.ends_with(write_end);
        if (!writes && (field == "mode" || left_of(lock, field) <= 0)) {
            continue;
        }
        holders.add(
            {.who = field,
             .how = writes ? holdfast::history::mode::alone : holdfast::history::mode::reads,
             .holder = writes ? field.substr(0, field.size() - write_end.size()) : field,
             .writes_as = writes ? std::string_view{} : writer_of(lock, field)},
            [&](std::string_view other) {
                in_.violation(fmt::format("{} is held by {} and {}", lock, other, field));
            }
        );
    }
}

}  // namespace holdfast::sim
