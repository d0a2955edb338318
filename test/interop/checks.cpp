#include "interop/checks.hpp"

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

task situation::until_parked(std::string const& name) {
    auto const channel = channel_of(name);
    // Of a fair lock each waiter has a channel.
    auto const listens = [&] {
        return probe.pubsub_numsub(channel) > 0 || !probe.pubsub_channels(channel + ":*").empty();
    };
    expect(co_await co_eventually(soon, listens), "nobody waits for the message of a release");
    co_await sleep_for(300ms);
}

bool in_full() {
    auto const* const wanted = std::getenv("HOLDFAST_INTEROP");
    return wanted != nullptr && std::string{wanted} == "full";
}

std::string channel_of(std::string const& lock) {
    bool const has_tag = lock.find('{') != std::string::npos;
    return "redisson_lock__channel:" + (has_tag ? lock : "{" + lock + "}");
}

std::string_view to_string(party which) {
    return which == party::ours ? "C++ holds" : "Java holds";
}

}  // namespace holdfast::test
