// The calls of the scripts of what counts, semaphores, latches and counting semaphores; and those
// of elections.

#include "fidelity/random_calls.hpp"
#include "protocol/scripts.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

using namespace std::string_literals;

namespace scripts = detail::scripts;

// Of a few semaphores, which other calls leave alone. Permits have no end that depends on the time:
// beside such a lease it is nothing. The record may have the time at which a call found the set
// lost, so it is compared as a counter is: that time is over at once, or in a day.
void call_maker::about_permits(detail::script const& which) {
    constexpr std::string_view endless = "1000000000000000000000000000000";
    auto const name = "permits:" + std::to_string(below(3));
    auto const of = [&](std::string_view what) { return std::string{what} + ":{" + name + "}"; };
    auto const does = which.name.substr(which.name.find('.') + 1);
    auto const count = 1 + below(3);
    auto const holder = std::to_string(below(4));
    auto const deadlines = "{" + name + "}:timeout";
    auto const record = "{" + name + "}:holdfast_limit";
    use(name);
    use(deadlines);
    use(record);
    call_.counters = {record};
    if (chance(10)) {
        // A part of the data is lost, or somebody changes the limit.
        auto const what = below(4);
        if (what == 3) {
            call_.words = {"INCRBY", name, chance(50) ? "1" : "-1"};
        } else {
            call_.words = {"DEL", what == 0 ? name : what == 1 ? deadlines : record};
        }
        return;
    }
    std::vector<std::string> keys{name, deadlines, of("redisson_sc")};
    if (does == "acquire") {
        keys.push_back(of("holdfast_semaphore_token"));
        call_.counters.push_back(keys.back());
    }
    for (auto const* const one : {"queue", "heard", "turns"}) {
        keys.push_back(of("holdfast_semaphore_"s + one));
    }
    keys.push_back(record);
    if (does == "inspect") {
        keys = {name, keys[1], keys[3], keys[4], record};
    } else if (does == "renew_many") {
        keys = {keys[1], record};
    }
    auto const lease = std::string{endless};
    bool const learns = does == "release" && chance(30);
    if (learns) {
        keys.push_back(of("holdfast_semaphore_hold"));
        use(keys.back());
    }
    start_script(which, keys);
    if (does == "acquire") {
        for (auto const& one : {std::to_string(count), holder, lease, "0"s, "0"s, "2000"s}) {
            add(one);
        }
        add(chance(20) ? "1" : "0");
        add(chance(60) ? std::to_string(3 + below(2)) : "0");
        add_learned_terms(false);
    } else if (does == "renew" || does == "renew_many") {
        add(chance(80) ? lease : "86400000");
        add(std::to_string(count));
    } else if (does == "release") {
        add(std::to_string(count));
        add(holder);
        add(chance(30) ? "1" : "0");
        add_ended_holds(learns);
    } else if (does == "set_permits") {
        add(std::to_string(3 + below(2)));
    }
    bool const has_permits = does != "inspect" && does != "set_permits" && does != "force_release";
    for (std::size_t i = 0; has_permits && i < count; ++i) {
        add("permit number " + holder + std::to_string(i));
    }
    add(nonce());
}

// Of a few elections, which other calls leave alone. Locks have no end, so whether one is held does
// not depend on the time. Terms come in any order.
void call_maker::elect(detail::script const& which) {
    auto const name = "elected:" + std::to_string(below(elections));
    auto const leader = "holdfast_leader:{" + name + "}";
    auto const holder = "client:" + std::to_string(below(3));
    use(name);
    use(leader);
    if (chance(15)) {
        call_.words = {"HSET", name, holder, "1"};
        return;
    }
    if (chance(15)) {
        call_.words = {"DEL", chance(40) ? name : leader};
        return;
    }
    if (&which == &scripts::election_proclaim) {
        start_script(which, {name, leader});
        add(holder);
        add(std::to_string(1 + below(60)));
        add(std::to_string(1 + below(3)));
        add(chance(80) ? "86400000" : "0");
        add(content());
    } else {
        start_script(which, {name, leader});
    }
    add(nonce());
}

// What a latch or a counting semaphore is asked, by requests that come again.
void call_maker::counted(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    auto const mark = "holdfast_done:{" + lock(of) + "}:" + std::to_string(below(3));
    auto const number = std::to_string(1 + below(3));
    // Not so short that it may be gone.
    auto const kept = "86400000"s;
    if (&which == &scripts::counted_read) {
        start_script(which, {lock(of)});
        add(nonce());
        return;
    }
    use(mark);
    if (&which == &scripts::counted_forget) {
        start_script(which, {mark, "holdfast_done:{nobody}"});
    } else if (&which == &scripts::counting_semaphore_acquire) {
        start_script(which, {lock(of), mark});
        add(number);
        add(kept);
    } else if (&which == &scripts::counting_semaphore_drain) {
        start_script(which, {lock(of), mark});
        add(kept);
    } else {
        start_script(which, {lock(of), channel(of), mark});
        bool const adds = &which == &scripts::counting_semaphore_add;
        add(adds && chance(20) ? "-" + number : number);
        if (&which == &scripts::counted_try_set) {
            add("1");
        }
        add(kept);
    }
    add(nonce());
}

}  // namespace holdfast::test
