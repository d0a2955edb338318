#include "interop/checks.hpp"

#include <vector>

namespace holdfast::test {

namespace {

using make_ours = std::unique_ptr<lock_actor> (*)(client&, std::string const&);

primitive lock_like(std::string name, bool has_tokens, make_ours ours = &our_lock_actor) {
    primitive made{
        .name = name,
        .has_tokens = has_tokens,
        .ours = ours,
        .java =
            [name, has_tokens](java_peer& by, std::string const& key) {
                return java_lock_actor(by, name, key, has_tokens);
            },
        .checks = lock_turn_checks(),
    };
    auto add = [&made](std::vector<check> const& more) {
        made.checks.insert(made.checks.end(), more.begin(), more.end());
    };
    add(lock_loss_checks());
    if (has_tokens) {
        add(lock_token_checks());
    }
    return made;
}

}  // namespace

primitive lock_primitive() {
    return lock_like("lock", true);
}

primitive plain_lock_primitive() {
    return lock_like("plain_lock", false);
}

primitive fair_lock_primitive() {
    auto made = lock_like("fair_lock", false, &our_fair_lock_actor);
    // Redisson gives back a fair lock that is gone as if it had it.
    std::erase_if(made.checks, [](check const& one) {
        return one.name == "a_holder_learns_that_its_key_is_gone";
    });
    for (auto& one : made.checks) {
        // 3.23.5 tells its waiters to sleep for minutes, whenever the holder's lease ends.
        if (one.name == "a_killed_holder_is_succeeded" ||
            one.name == "a_lease_that_is_not_renewed_ends") {
            one.who = begins::java;
        }
    }
    auto const more = fair_lock_checks();
    made.checks.insert(made.checks.end(), more.begin(), more.end());
    return made;
}

}  // namespace holdfast::test
