#include "cli/rights.hpp"

#include "protocol/counting_semaphore.hpp"
#include "protocol/election.hpp"
#include "protocol/fair_lock.hpp"
#include "protocol/hand_over_message.hpp"
#include "protocol/latch.hpp"
#include "protocol/lock.hpp"
#include "protocol/read_write_lock.hpp"
#include "protocol/semaphore.hpp"
#include "protocol/target.hpp"

#include <initializer_list>
#include <map>
#include <utility>

namespace holdfast::cli {

namespace {

using right_kind = right::kind;
using words = std::vector<std::string>;

// What follows the command and a key that is not there, so that nothing is changed.
words harmless_arguments(std::string_view command) {
    static std::map<std::string_view, words> const all{
        {"hexists", {"field"}},
        // A field without a value is refused after the user's rights were looked at.
        {"hset", {"field", "value", "field"}},
        {"hdel", {"field"}},
        {"set", {"", "XX"}},
        {"incrby", {"no number"}},
        {"pexpire", {"1"}},
        {"pexpireat", {"1"}},
        {"zadd", {"XX", "0", "member"}},
        {"zrem", {"member"}},
        {"zrange", {"0", "0"}},
        {"zrank", {"member"}},
        {"zscore", {"member"}},
        {"zcount", {"0", "0"}},
        {"zrangebyscore", {"0", "0"}},
        {"lindex", {"0"}},
        {"lrange", {"0", "0"}},
        {"lrem", {"1", "element"}},
        {"ltrim", {"0", "-1"}},
        {"lpush", {"element"}},
        {"rpush", {"element"}},
    };
    auto const found = all.find(command);
    return found == all.end() ? words{} : found->second;
}

class group_maker {
public:
    group_maker(
        config const& settings,
        std::string_view name,
        std::string purpose,
        rights_group::need needed
    )
        : prefix_{settings.key_prefix},
          name_{name},
          made_{std::move(purpose), needed, {}} {}

    group_maker& commands(std::initializer_list<std::string_view> all) {
        for (auto const command : all) {
            words tried{std::string{command}, name_};
            auto const arguments = harmless_arguments(command);
            tried.insert(tried.end(), arguments.begin(), arguments.end());
            bool const writes = command == "incr" || command == "lpush" || command == "rpush";
            add(right_kind::command, "+" + std::string{command}, {std::move(tried)}, writes);
        }
        return *this;
    }
    group_maker& command(std::string rule, words tried) {
        add(right_kind::command, "+" + std::move(rule), {std::move(tried)});
        return *this;
    }
    // Boost.Redis waits for replies to sharded subscriptions, which have none: a hand-over shows
    // whether they are allowed.
    group_maker& subscriptions(std::string_view channel, bool sharded) {
        if (!sharded) {
            for (std::string const command : {"subscribe", "unsubscribe"}) {
                add(right_kind::command, "+" + command, {{command, std::string{channel}}});
                made_.rights.back().subscribes = true;
            }
        }
        return *this;
    }
    group_maker& key(std::string_view which) {
        // One that reads and one that writes: users may have one right without the other.
        std::string const text{which};
        add(right_kind::key, "~" + pattern_of_key(which), {{"PTTL", text}, {"DEL", text}});
        return *this;
    }
    group_maker& channel(std::string_view which, std::string_view publish) {
        add(right_kind::channel,
            "&" + pattern_of_key(which),
            {{std::string{publish}, std::string{which}, ""}});
        return *this;
    }
    [[nodiscard]] rights_group take() { return std::move(made_); }

private:
    // `redisson_sc:{app:holdfast-doctor-1}` → `redisson_sc:{app:*`
    [[nodiscard]] std::string pattern_of_key(std::string_view which) const {
        auto const at = which.find(name_);
        if (at == std::string_view::npos) {
            return std::string{which.substr(0, which.find(':') + 1)} + "*";
        }
        return std::string{which.substr(0, at)} + prefix_ + "*";
    }
    void add(right_kind what, std::string rule, std::vector<words> tries, bool writes = false) {
        // Boost.Redis knows that subscriptions have no replies by their names in capitals.
        for (auto& tried : tries) {
            for (char& c : tried.front()) {
                c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
            }
        }
        made_.rights.push_back({what, std::move(rule), std::move(tries), writes});
    }

    std::string prefix_;
    std::string name_;
    rights_group made_;
};

std::string key_of(std::string_view beginning, detail::target const& like) {
    std::string_view constexpr counter = "redisson_lock_token";
    return std::string{beginning}.append(like.counter().substr(counter.size()));
}

}  // namespace

std::vector<rights_group> rights_for(
    config const& settings,
    std::string_view name,
    detail::script_dialect dialect
) {
    using need = rights_group::need;
    bool const sharded = dialect == detail::script_dialect::sharded;
    bool const in_cluster = dialect != detail::script_dialect::single;
    std::string_view const publish = sharded ? "spublish" : "publish";
    auto const lock = detail::make_lock_target({}, name);
    auto const fair = detail::make_fair_lock_target({}, name);
    auto const read = detail::make_read_lock_target({}, name);
    auto const semaphore = detail::make_semaphore_target({}, name);
    auto const latch = detail::make_latch_target({}, name, in_cluster);
    auto const counting = detail::make_counting_semaphore_target({}, name);
    auto const election = detail::make_election_keys({}, name);
    // What the keys of one lock have in common: `{name}`.
    auto const tag = key_of({}, lock).substr(1);
    auto const make = [&](std::string purpose, need needed) {
        return group_maker{settings, name, std::move(purpose), needed};
    };

    std::vector<rights_group> all;
    all.push_back(
        make("locks", need::always)
            .command("ping", {"PING"})
            .command("time", {"TIME"})
            .command("eval", {"EVAL", "return 1", "0"})
            .command("evalsha", {"EVALSHA", std::string(40, '0'), "0"})
            .commands({"pttl", "hkeys", "hgetall", "hexists", "hset", "hdel", "set", "get"})
            .commands({"incr", "incrby", "pexpire", "exists", "del"})
            .command(std::string{publish}, {std::string{publish}, std::string{lock.channel()}, ""})
            .subscriptions(lock.channel(), sharded)
            .key(lock.lock)
            .key(lock.counter())
            .key(lock.channel())
            .channel(lock.channel(), publish)
            .take()
    );
    if (settings.hand_over) {
        all.push_back(
            make("hand-over", need::better)
                .commands({"pexpireat", "zadd", "zrem", "zrange", "zrank", "zscore", "zcount"})
                .command(
                    sharded ? "pubsub|shardnumsub" : "pubsub|numsub",
                    {"PUBSUB", sharded ? "SHARDNUMSUB" : "NUMSUB", std::string{lock.channel()}}
                )
                .key(lock.queue())
                .channel(lock.waiters(), publish)
                .channel(
                    in_cluster ? detail::channel_of_client("doctor", lock)
                               : detail::channel_of_client("doctor"),
                    publish
                )
                .take()
        );
    }
    all.push_back(make("learned leases", need::kind)
                      .key(key_of("holdfast_hold", lock))
                      .key(key_of("holdfast_read_hold", lock))
                      .key(key_of("holdfast_write_hold", lock))
                      .key(key_of("holdfast_semaphore_hold", lock))
                      .take());
    all.push_back(make("fair locks", need::kind)
                      .commands({"lindex", "llen", "lrange", "lrem", "rpush"})
                      .commands({"zadd", "zrem", "zrange", "zscore"})
                      .key(fair.queue())
                      .key(fair.waiters())
                      .key(key_of("holdfast_fair", fair))
                      .take());
    all.push_back(make("read/write locks", need::kind)
                      .commands({"zadd", "zrem", "zrange", "zscore", "zrangebyscore"})
                      .key(tag + ":holder:rwlock_timeout:1")
                      .key(read.queue())
                      .key(read.waiters())
                      .key(read.channel())
                      .channel(read.channel(), publish)
                      .take());
    all.push_back(make("semaphores", need::kind)
                      .commands({"zcard", "zcount", "zrangebyscore"})
                      .commands({"zadd", "zrem", "zrange", "zscore"})
                      .key(tag + ":timeout")
                      .key(semaphore.counter())
                      .key(semaphore.queue())
                      .key(key_of("holdfast_semaphore_heard", lock))
                      .key(semaphore.channel())
                      .key(semaphore.waiters())
                      .channel(semaphore.channel(), publish)
                      .channel(semaphore.waiters(), publish)
                      .take());
    all.push_back(make("latches", need::kind)
                      .key(std::string{latch.done()} + ":id")
                      .key(latch.channel())
                      .channel(latch.channel(), publish)
                      .take());
    all.push_back(make("counting semaphores", need::kind)
                      .key(std::string{counting.done()} + ":id")
                      .key(counting.channel())
                      .channel(counting.channel(), publish)
                      .take());
    all.push_back(make("elections", need::kind)
                      .commands({"lindex", "llen", "lpush", "ltrim", "persist"})
                      .key(election.history)
                      .key(election.channel)
                      .channel(election.channel, publish)
                      .take());
    if (settings.replicas.count > 0) {
        all.push_back(
            make("config::replicas", need::always).command("wait", {"WAIT", "0", "1"}).take()
        );
    }
    return all;
}

bool is_refused(right::kind what, detail::raw_reply const& reply) {
    if (!reply.is_error) {
        return false;
    }
    auto const has = [&](std::string_view part) {
        return reply.error.find(part) != std::string::npos;
    };
    if (has("nknown command") || has("nknown Redis command") || has("nknown subcommand")) {
        return what == right_kind::command;
    }
    if (detail::classify(reply.error).error != errc::no_permission) {
        return false;
    }
    // Servers look at commands first, then at keys, then at channels.
    bool const of_channel = has("channel");
    bool const of_key = !of_channel && has(" key");
    switch (what) {
        case right_kind::command: return !of_channel && !of_key;
        case right_kind::key: return of_key;
        case right_kind::channel: return of_channel;
    }
    return false;
}

}  // namespace holdfast::cli
