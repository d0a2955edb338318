#include "simulation/permit_judge.hpp"

#include "core/holder_id.hpp"
#include "protocol/reply.hpp"
#include "protocol/semaphore.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace holdfast::sim {

namespace {

// As Redisson's.
constexpr std::string_view other_permit = "somebody's own#1";

std::string deadlines_of(std::string_view pool) {
    return tagged(pool) + ":timeout";
}

std::string queue_of(std::string_view pool) {
    return "holdfast_semaphore_queue:" + tagged(pool);
}

std::optional<detail::holder_id> id_of(std::string_view holder) {
    auto const colon = holder.rfind(':');
    if (colon != detail::holder_id::client_id_length) {
        return std::nullopt;
    }
    auto const number = std::strtoull(std::string{holder.substr(colon + 1)}.c_str(), nullptr, 10);
    return detail::holder_id::of_number(holder.substr(0, colon), number);
}

}  // namespace

void permit_judge::set_limit(std::string const& pool, std::int64_t limit) {
    pools_[pool].limit = limit;
    auto const sent = detail::set_permits(detail::make_semaphore_target({}, pool), limit, 1s);
    server_.as_operator(
        {"EVAL",
         sent.what().text,
         "7",
         sent.word(0),
         sent.word(1),
         sent.word(2),
         sent.word(3),
         sent.word(4),
         sent.word(5),
         sent.word(6),
         sent.word(7),
         "n"}
    );
}

std::int64_t permit_judge::limit_of(std::string_view pool) const {
    auto const at = pools_.find(pool);
    return at == pools_.end() ? 0 : at->second.limit;
}

bool permit_judge::all_free(std::string_view pool) const {
    auto const free = server_.data().get(pool);
    return free && std::atoll(free->c_str()) >= limit_of(pool) && limit_of(pool) > 0;
}

std::set<std::string, std::less<>> const& permit_judge::holders(std::string_view pool) {
    return pools_[std::string{pool}].holders;
}

std::optional<std::int64_t> permit_judge::kept_until(
    std::string_view pool,
    std::string_view holder,
    std::int64_t permits
) {
    auto const id = id_of(holder);
    auto soonest = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t i = 0; id && i < permits; ++i) {
        detail::permit_id const permit{*id, static_cast<std::uint32_t>(i)};
        auto const till = server_.as_operator({"ZSCORE", deadlines_of(pool), permit.view()});
        if (till.text.empty() || till.is_error()) {
            return std::nullopt;
        }
        soonest = std::min<std::int64_t>(soonest, std::strtoll(till.text.c_str(), nullptr, 10));
    }
    return id ? std::optional{soonest} : std::nullopt;
}

std::int64_t permit_judge::taken_by_others(std::string_view pool) {
    auto const till = server_.as_operator({"ZSCORE", deadlines_of(pool), other_permit});
    bool const there = !till.text.empty() && !till.is_error();
    return there && std::strtoll(till.text.c_str(), nullptr, 10) > now_ms() ? 1 : 0;
}

// As Redisson does it, which looks at no queue.
bool permit_judge::take_for_other(std::string const& pool, std::chrono::milliseconds lease) {
    auto const free = std::atoll(server_.data().get(pool).value_or("0").c_str());
    if (free < 1 || taken_by_others(pool) > 0) {
        return false;
    }
    auto const till = std::to_string(now_ms() + lease.count());
    server_.as_operator(
        {"EVAL",
         "if redis.call('ZREM', KEYS[2], ARGV[2]) == 0 then redis.call('INCRBY', KEYS[1], -1) end "
         "return redis.call('ZADD', KEYS[2], ARGV[1], ARGV[2])",
         "2",
         pool,
         deadlines_of(pool),
         till,
         std::string{other_permit}}
    );
    return true;
}

void permit_judge::give_back_from_other(std::string const& pool) {
    // Where the number is lost Redisson makes one of 1, and nobody can mend that.
    auto const free = server_.as_operator(
        {"EVAL",
         "return redis.call('ZREM', KEYS[2], ARGV[1]) == 1 and redis.call('EXISTS', KEYS[1]) == 1 "
         "and redis.call('INCRBY', KEYS[1], 1) or -1",
         "2",
         pool,
         deadlines_of(pool),
         std::string{other_permit}}
    );
    if (free.number >= 0) {
        server_.publish("redisson_sc:" + tagged(pool), std::to_string(free.number));
    }
}

void permit_judge::on_before(std::string_view pool) {
    auto& known = pools_[std::string{pool}];
    // Before each holder stands what it wants.
    auto queue = server_.as_operator({"ZRANGE", queue_of(pool), "0", "-1"});
    for (auto& one : queue.elements) {
        one.text = one.text.substr(one.text.find(' ') + 1);
    }
    queue_.on_before(pool, queue);
    known.had.clear();
    for (auto const& holder : known.holders) {
        if (holds(pool, holder)) {
            known.had.insert(holder);
        }
    }
}

void permit_judge::on_script(script_event const& what) {
    auto& known = pools_[std::string{what.lock}];
    judge_sum(what.lock, known);
    if (what.reply->is_error()) {
        // A script that is refused its last command has given the permits before.
        if (what.does == "acquire" && holds(what.lock, what.holder)) {
            on_granted(known, what);
        }
        return;
    }
    detail::script_reply const said{what.reply->text};
    auto const outcome = said.integer(0, -1);
    if (what.does == "acquire") {
        if (outcome == 0 && said.integer(2) > 0) {
            queue_.on_placed(what, what.holder);
        } else if (outcome == 1) {
            on_granted(known, what);
        }
    } else if (what.does == "release") {
        if (auto const at = known.holders.find(what.holder); at != known.holders.end()) {
            known.holders.erase(at);
        }
        if (holds(what.lock, what.holder)) {
            in_.violation(fmt::format("{} keeps a permit after its release", what.lock));
        }
    }
}

// What is free, what is taken, and what is missing since the set was lost are always all there are.
void permit_judge::judge_sum(std::string_view pool, history const& known) {
    auto const text = server_.data().get(pool);
    if (!text || text == "precious") {
        return;
    }
    auto const free = std::atoll(text->c_str());
    auto const taken = server_.as_operator({"ZCARD", deadlines_of(pool)}).number;
    auto const missing = missing_of(pool, free + taken);
    if (free + taken + missing != known.limit || free < 0) {
        in_.violation(fmt::format(
            "{} has {} free, {} taken and {} missing permits, and should have {}",
            pool,
            free,
            taken,
            missing,
            known.limit
        ));
    }
}

// As the record says it: total, longest lease, total without the missing ones, until when. A script
// that was refused something may have counted them before it could write the record.
std::int64_t permit_judge::missing_of(std::string_view pool, std::int64_t sum) {
    auto const record = server_.data().get(tagged(pool) + ":holdfast_limit");
    std::istringstream words{record.value_or("")};
    std::int64_t total = 0, longest = 0, without = 0;
    return words >> total >> longest >> without && sum == without ? total - without : 0;
}

void permit_judge::on_granted(history& known, script_event const& what) {
    known.holders.emplace(what.holder);
    if (!known.had.contains(what.holder)) {  // or an attempt came again
        queue_.on_granted(what, what.holder, sometimes::permits_in_turn, [](auto, auto) {
            return false;
        });
    }
}

bool permit_judge::may_stay(std::string const& key) {
    for (auto const& [pool, known] : pools_) {
        if (key == pool) {
            judge_sum(pool, known);
            return true;
        }
        if (key != deadlines_of(pool)) {
            continue;
        }
        // Those of a holder that died are taken back when the next one comes.
        auto const kept =
            server_.as_operator({"ZCOUNT", key, "(" + std::to_string(now_ms()), "+inf"});
        return kept.number == 0;
    }
    return false;
}

}  // namespace holdfast::sim
