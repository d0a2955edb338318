// The calls of the library's scripts, with the keys and arguments that they expect.

#include "fidelity/random_calls.hpp"
#include "protocol/scripts.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace holdfast::test {

using namespace std::string_literals;

namespace scripts = detail::scripts;

std::span<detail::script const* const> library_scripts() {
#define HOLDFAST_SCRIPT(symbol, name, sha1, text, ...) &scripts::symbol,
    static std::vector<detail::script const*> const all = [] {
        std::vector<detail::script const*> made{
#include "protocol/scripts.inc"
        };
        // A server that is no node of a cluster has no slots.
        std::erase(made, &scripts::cluster_slots);
        return made;
    }();
#undef HOLDFAST_SCRIPT
    return all;
}

void call_maker::start_script(detail::script const& which, std::vector<std::string> const& keys) {
    bool const by_name = chance(80);
    add(by_name ? "EVALSHA" : "EVAL");
    add(std::string{by_name ? which.sha1 : which.text});
    add(std::to_string(keys.size()));
    for (auto const& one : keys) {
        add(one);
    }
}

void call_maker::acquire(detail::script const& which) {
    auto const of = family();
    // Somebody might take a lock for a counter.
    auto const count = chance(2) ? lock(of) : counter(of);
    bool const preflight = chance(15);
    use(lock(of));
    use(count);
    call_.counters = {count};
    // 0: no hand-over; 1: hand-over; more: with a place in the queue. Whose places they are, nobody
    // listens: what is said in a grant has the server's time.
    auto const window = chance(40) ? "0"s : chance(50) ? "1"s : "3600000"s;
    std::vector<std::string> keys{lock(of), count};
    if (window != "0") {
        keys.push_back(queue(of));
        use(queue(of));
    }
    if (preflight) {
        keys.push_back(channel(of));
    }
    bool const learns = chance(30);
    if (learns) {
        keys.push_back(usual_hold(of));
        use(usual_hold(of));
    }
    start_script(which, keys);
    add(milliseconds());
    last_holder_[of] = holder_of(of);
    add(last_holder_[of]);
    add(chance(30) ? "0" : chance(60) ? "2592000000" : milliseconds());
    add(window != "0" && chance(30) ? "7" : "1");
    add(window);
    add(std::to_string(1 + below(9)));
    add(preflight ? "1" : "0");
    add_learned_terms(learns);
    add(nonce());
}

void call_maker::acquire_several(detail::script const& which) {
    bool const hand_over = chance(50);
    std::vector<std::string> keys;
    std::vector<std::string> holders;
    for (auto count = 2 + below(2); count > 0; --count) {
        auto const of = family();
        use(lock(of));
        use(counter(of));
        call_.counters.push_back(counter(of));
        keys.insert(keys.end(), {lock(of), counter(of)});
        if (hand_over) {
            keys.push_back(queue(of));
            use(queue(of));
        }
        last_holder_[of] = holder_of(of);
        holders.push_back(last_holder_[of]);
    }
    start_script(which, keys);
    add(milliseconds());
    add(chance(50) ? "2592000000" : milliseconds());
    for (auto const& one : holders) {
        add(one);
    }
    add(nonce());
}

// What is proposed is far ahead of any clock, or nothing: what lies between depends on the server's
// time.
void call_maker::quorum_acquire(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    use(counter(of));
    call_.counters = {counter(of)};
    std::vector<std::string> keys{lock(of), counter(of)};
    if (chance(15)) {
        keys.push_back(channel(of));
    }
    start_script(which, keys);
    add(milliseconds());
    last_holder_[of] = holder_of(of);
    add(last_holder_[of]);
    add(chance(50) ? "2592000000" : milliseconds());
    add(chance(50) ? "0" : std::to_string(8'000'000'000'000'000 + below(100)));
    add(nonce());
}

void call_maker::raise_token(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    use(counter(of));
    call_.counters = {counter(of)};
    start_script(which, {lock(of), counter(of)});
    add(holder_of(of));
    add("2592000000");
    add(std::to_string(8'000'000'000'000'000 + below(100)));
    add(nonce());
}

void call_maker::take_over(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    use(counter(of));
    call_.counters = {counter(of)};
    bool const with_queue = chance(50);
    std::vector<std::string> keys{lock(of), counter(of)};
    if (with_queue) {
        keys.push_back(queue(of));
        use(queue(of));
    }
    start_script(which, keys);
    auto const seen = holder_of(of);
    add(milliseconds());
    add(holder());
    add("2592000000");
    add(with_queue && chance(30) ? "7" : "1");
    add(with_queue && chance(50) ? seen + " 3600000" : "");
    add(seen);
    add(chance(70) ? "1" : content());
    add(nonce());
}

// Such a lease is as short as a usual hold where nothing bounds it.
void call_maker::add_learned_terms(bool learns) {
    constexpr std::size_t usual = 7;
    if (!learns) {
        add("0");
        add("0");
        return;
    }
    add(milliseconds());
    call_.fleeting = call_.fleeting || call_.words.back().size() != usual;
    add(std::to_string(4 + below(20)));
}

void call_maker::add_ended_holds(bool learns) {
    if (!learns) {
        add("0");
        add("0");
        return;
    }
    add(std::to_string(below(70)));
    add(chance(70) ? std::to_string(below(90'000'000)) : "86400000000");
}

void call_maker::release(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    auto const holder = holder_of(of);
    bool const learns = chance(40);
    std::vector<std::string> keys{lock(of), channel(of)};
    auto const start = [&] {
        if (learns) {
            keys.push_back(usual_hold(of));
            use(usual_hold(of));
        }
        start_script(which, keys);
    };
    bool const hands_over = chance(50);
    if (hands_over) {
        // An empty queue: whose turn it is in another depends on the server's time.
        use(counter(of));
        call_.counters = {counter(of)};
        keys.insert(keys.end(), {"holdfast_queue:{nobody}", counter(of)});
    }
    start();
    add(holder);
    add(chance(50) ? "" : holder + " 3600000");
    add("");
    add("2592000000");
    add(std::to_string(below(9)));
    add_ended_holds(learns);
    add(nonce());
}

void call_maker::renew(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    bool const with_tokens = chance(40);
    if (with_tokens) {
        use(queue(of));
        use(counter(of));
        call_.counters = {counter(of)};
    }
    bool const learns = with_tokens && chance(50);
    std::vector<std::string> keys{lock(of)};
    if (with_tokens) {
        keys.insert(keys.end(), {counter(of), queue(of)});
    }
    if (learns) {
        keys.push_back(usual_hold(of));
        use(usual_hold(of));
    }
    start_script(which, keys);
    add(chance(10) ? "0" : milliseconds());
    add(holder_of(of));
    add(with_tokens ? std::to_string(1 + below(64)) : "0");
    add("2592000000");
    add_ended_holds(learns);
    add_learned_terms(learns);
    add(nonce());
}

void call_maker::renew_many(detail::script const& which) {
    std::vector<std::size_t> all;
    for (auto count = 1 + below(4); count > 0; --count) {
        all.push_back(family());
    }
    add(chance(80) ? "EVALSHA" : "EVAL");
    add(std::string{call_.words[0] == "EVALSHA" ? which.sha1 : which.text});
    add(std::to_string(all.size()));
    for (auto const of : all) {
        use(lock(of));
        add(lock(of));
    }
    for (auto const of : all) {
        add(milliseconds());
        add(holder_of(of));
    }
    add(nonce());
}

void call_maker::inspect(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    if (chance(50)) {
        start_script(which, {lock(of), counter(of)});
    } else {
        use(queue(of));
        start_script(which, {lock(of), counter(of), queue(of)});
    }
    add(nonce());
}

void call_maker::force_release(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    start_script(which, {lock(of), channel(of)});
    add(nonce());
}

// A script of which nothing is known here gets whatever there is.
void call_maker::unknown_script(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    use(counter(of));
    call_.counters = {counter(of)};
    call_.fleeting = true;
    call_.unordered = true;
    start_script(which, {lock(of), counter(of), channel(of)});
    std::string (call_maker::* const kinds[])() = {
        &call_maker::holder,
        &call_maker::milliseconds,
        &call_maker::nonce,
        &call_maker::integer,
        &call_maker::junk,
    };
    for (auto count = below(8); count > 0; --count) {
        add((this->*kinds[below(std::size(kinds))])());
    }
}

void call_maker::call_script() {
    struct known {
        detail::script const* which;
        std::size_t weight;
        void (call_maker::*make)(detail::script const&);
    };
    static constexpr known all[] = {
        {&scripts::lock_acquire, 35, &call_maker::acquire},
        {&scripts::multi_lock_acquire, 5, &call_maker::acquire_several},
        {&scripts::quorum_lock_acquire, 4, &call_maker::quorum_acquire},
        {&scripts::quorum_lock_raise_token, 2, &call_maker::raise_token},
        {&scripts::lock_take_over, 5, &call_maker::take_over},
        {&scripts::lock_release, 15, &call_maker::release},
        {&scripts::lock_renew, 9, &call_maker::renew},
        {&scripts::lock_renew_many, 4, &call_maker::renew_many},
        {&scripts::lock_inspect, 9, &call_maker::inspect},
        {&scripts::lock_force_release, 5, &call_maker::force_release},
        {&scripts::read_lock_acquire, 5, &call_maker::acquire_side},
        {&scripts::write_lock_acquire, 4, &call_maker::acquire_side},
        {&scripts::read_lock_release, 3, &call_maker::release_side},
        {&scripts::write_lock_release, 3, &call_maker::release_side},
        {&scripts::read_lock_renew, 2, &call_maker::renew_reader},
        {&scripts::read_lock_renew_many, 1, &call_maker::renew_readers},
        {&scripts::read_write_lock_inspect, 1, &call_maker::inspect_side},
        {&scripts::read_write_lock_force_release, 1, &call_maker::force_release_side},
        {&scripts::fair_lock_acquire, 4, &call_maker::fair},
        {&scripts::fair_lock_release, 3, &call_maker::fair},
        {&scripts::fair_lock_inspect, 1, &call_maker::fair},
        {&scripts::fair_lock_force_release, 1, &call_maker::fair},
        {&scripts::counted_try_set, 3, &call_maker::counted},
        {&scripts::counted_read, 2, &call_maker::counted},
        {&scripts::counted_forget, 4, &call_maker::counted},
        {&scripts::latch_count_down, 3, &call_maker::counted},
        {&scripts::counting_semaphore_acquire, 3, &call_maker::counted},
        {&scripts::counting_semaphore_withdraw, 2, &call_maker::counted},
        {&scripts::counting_semaphore_add, 1, &call_maker::counted},
        {&scripts::counting_semaphore_drain, 1, &call_maker::counted},
        {&scripts::semaphore_acquire, 4, &call_maker::about_permits},
        {&scripts::semaphore_release, 3, &call_maker::about_permits},
        {&scripts::semaphore_renew, 2, &call_maker::about_permits},
        {&scripts::semaphore_renew_many, 2, &call_maker::about_permits},
        {&scripts::semaphore_inspect, 1, &call_maker::about_permits},
        {&scripts::semaphore_set_permits, 1, &call_maker::about_permits},
        {&scripts::semaphore_force_release, 1, &call_maker::about_permits},
        {&scripts::election_proclaim, 4, &call_maker::elect},
        {&scripts::election_look, 3, &call_maker::elect},
    };
    constexpr std::size_t total = std::accumulate(
        std::begin(all),
        std::end(all),
        std::size_t{0},
        [](std::size_t sum, known const& one) { return sum + one.weight; }
    );
    static auto const others = [] {
        std::vector<detail::script const*> made;
        for (auto const* const one : library_scripts()) {
            if (std::ranges::find(all, one, &known::which) == std::end(all)) {
                made.push_back(one);
            }
        }
        return made;
    }();
    if (!others.empty() && chance(10)) {
        return unknown_script(*others[below(others.size())]);
    }
    auto drawn = below(total);
    for (auto const& one : all) {
        if (drawn < one.weight) {
            return (this->*one.make)(*one.which);
        }
        drawn -= one.weight;
    }
}

}  // namespace holdfast::test
