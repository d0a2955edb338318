#include "interop/checks.hpp"

#include <algorithm>
#include <cstdlib>

namespace holdfast::test {

bool situation::expect(bool is_so, std::string_view what) {
    if (!is_so) {
        failures.emplace_back(what);
    }
    return is_so;
}

bool situation::grew(std::uint64_t before, std::uint64_t after) const {
    return after > before || !kind.has_tokens;
}

lock_actor& situation::actor(party of, std::string const& name) {
    actors.push_back(of == party::ours ? kind.ours(ours, name) : kind.java(java, name));
    return *actors.back();
}

namespace {

std::string channel_of(primitive const& kind, std::string const& lock) {
    bool const has_tag = lock.find('{') != std::string::npos;
    return kind.channel + ":" + (has_tag ? lock : "{" + lock + "}");
}

}  // namespace

task situation::until_parked(std::string const& name) {
    auto const channel = channel_of(kind, name);
    // A waiter for a fair lock has a channel of his own.
    auto const listens = [&] {
        return kind.is_fair ? !probe.pubsub_channels(channel + ":*").empty()
                            : probe.pubsub_numsub(channel) > 0;
    };
    expect(co_await co_eventually(soon, listens), "nobody waits for the message of a release");
    co_await sleep_for(300ms);
}

lock_actor& situation::usual_actor(party of) {
    actors.push_back(of == party::ours ? kind.ours(usual, key) : kind.java(java, key));
    return *actors.back();
}

task situation::until_queued(std::size_t count) {
    auto const channel = channel_of(kind, key) + ":";
    auto const all_listen = [&] {
        auto const waiters = queue_of(probe, key);
        return waiters.size() == count && std::ranges::all_of(waiters, [&](auto const& id) {
                   return probe.pubsub_numsub(channel + id) > 0;
               });
    };
    auto const what = "no " + std::to_string(count) + " wait in the queue";
    expect(co_await co_eventually(soon, all_listen), what);
}

std::vector<std::string> queue_of(redis_probe& probe, std::string const& lock) {
    std::vector<std::string> ids;
    auto const reply = probe.cmd("LRANGE", "redisson_lock_queue:{" + lock + "}", 0, -1);
    for (auto const& one : reply.as_array()) {
        ids.push_back(one.text);
    }
    return ids;
}

bool in_full() {
    auto const* const wanted = std::getenv("HOLDFAST_INTEROP");
    return wanted != nullptr && std::string{wanted} == "full";
}

std::string_view to_string(party which) {
    return which == party::ours ? "C++ holds" : "Java holds";
}

}  // namespace holdfast::test
