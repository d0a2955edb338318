// The calls of the scripts of a read/write lock and of a fair lock.

#include "fidelity/random_calls.hpp"

#include <string>
#include <vector>

namespace holdfast::test {

// Nobody waits: the places of those who do have the server's time.
void call_maker::acquire_side(detail::script const& which) {
    auto const of = family();
    bool const reads = which.name.starts_with("read");
    last_holder_[of] = holder_of(of);
    auto const& who = last_holder_[of];
    std::vector<std::string> keys{
        lock(of),
        counter(of),
        of_both_sides("holdfast_rwlock_queue", of),
        of_both_sides("holdfast_rwlock_heard", of),
        of_both_sides("redisson_rwlock", of),
    };
    if (reads) {
        keys.push_back(hold_of(of, who));
    }
    bool const learns = chance(20);
    if (learns) {
        keys.push_back(usual_hold(of));
    }
    for (auto const& one : keys) {
        use(one);
    }
    call_.counters = {counter(of)};
    start_script(which, keys);
    add(chance(85) ? "3600000" : milliseconds());
    add(who);
    add("2592000000");
    add("0");
    add("2000");
    add(chance(20) ? "1" : "0");
    if (reads) {
        add(chance(30) ? holder_of(of) : "");
    }
    add_learned_terms(learns);
    add(nonce());
}

void call_maker::release_side(detail::script const& which) {
    auto const of = family();
    bool const reads = which.name.starts_with("read");
    auto const who = holder_of(of);
    std::vector<std::string> keys{
        lock(of),
        of_both_sides("redisson_rwlock", of),
        of_both_sides("holdfast_rwlock_queue", of),
        of_both_sides("holdfast_rwlock_heard", of),
    };
    if (reads) {
        keys.push_back(hold_of(of, who));
    }
    bool const learns = chance(20);
    if (learns) {
        keys.push_back(usual_hold(of));
    }
    for (auto const& one : keys) {
        use(one);
    }
    start_script(which, keys);
    add(who);
    add(chance(30) ? "1" : "0");
    add_ended_holds(learns);
    add(nonce());
}

void call_maker::renew_reader(detail::script const& which) {
    auto const of = family();
    auto const who = holder_of(of);
    use(lock(of));
    use(hold_of(of, who));
    start_script(which, {lock(of), hold_of(of, who)});
    add(chance(80) ? "3600000" : milliseconds());
    add(who);
    add(nonce());
}

void call_maker::renew_readers(detail::script const& which) {
    std::vector<std::string> keys;
    std::vector<std::string> holders;
    for (auto count = 1 + below(3); count > 0; --count) {
        auto const of = family();
        holders.push_back(holder_of(of));
        keys.push_back(lock(of));
        keys.push_back(hold_of(of, holders.back()));
    }
    for (auto const& one : keys) {
        use(one);
    }
    start_script(which, keys);
    for (auto const& one : holders) {
        add("3600000");
        add(one);
    }
    add(nonce());
}

void call_maker::inspect_side(detail::script const& which) {
    auto const of = family();
    auto const queue = of_both_sides("holdfast_rwlock_queue", of);
    use(lock(of));
    use(queue);
    start_script(which, {lock(of), counter(of), queue});
    add(chance(50) ? "r" : "w");
    add(nonce());
    call_.unordered = true;
}

void call_maker::force_release_side(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    start_script(which, {lock(of), of_both_sides("redisson_rwlock", of)});
    add(chance(50) ? "r" : "w");
    add(nonce());
}

// Nobody waits, as above.
void call_maker::fair(detail::script const& which) {
    auto const of = family();
    auto const does = which.name.substr(which.name.find('.') + 1);
    auto const queue = of_both_sides("redisson_lock_queue", of);
    std::vector<std::string> others{
        queue,
        of_both_sides("redisson_lock_timeout", of),
        of_both_sides("holdfast_fair", of),
    };
    bool const takes = does == "acquire";
    bool const learns = (takes || does == "release") && chance(20);
    std::vector<std::string> keys{lock(of)};
    if (does == "inspect") {
        keys = {lock(of), counter(of), queue};
    } else if (takes) {
        keys.push_back(counter(of));
        keys.insert(keys.end(), others.begin(), others.end());
        keys.push_back(of_both_sides("redisson_lock__channel", of));
    } else {
        keys.push_back(of_both_sides("redisson_lock__channel", of));
        keys.insert(keys.end(), others.begin(), others.end());
    }
    if (learns) {
        keys.push_back(usual_hold(of));
    }
    for (auto const& one : keys) {
        use(one);
    }
    call_.counters = {counter(of)};
    start_script(which, keys);
    if (takes) {
        last_holder_[of] = holder_of(of);
        add(chance(85) ? "3600000" : milliseconds());
        add(last_holder_[of]);
        add("2592000000");
        add("0");
        add("2000");
        add(chance(20) ? "1" : "0");
        add_learned_terms(learns);
    } else if (does == "release") {
        add(holder_of(of));
        add(chance(30) ? "1" : "0");
        add("2000");
        add_ended_holds(learns);
    } else if (does == "force_release") {
        add("2000");
    } else {
        call_.unordered = true;
    }
    add(nonce());
}

}  // namespace holdfast::test
