#include "interop/checks.hpp"

namespace holdfast::test {

namespace {

primitive lock_like(std::string name, bool has_tokens, bool is_fair = false) {
    primitive made{
        .name = name,
        .has_tokens = has_tokens,
        .is_fair = is_fair,
        .ours = is_fair ? &our_fair_lock_actor : &our_lock_actor,
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
    if (is_fair) {
        for (auto& one : made.checks) {
            // 3.23.5 may tell its waiters to sleep until they are told, whenever the holder's lease
            // ends.
            if (one.name == "a_killed_holder_is_succeeded" ||
                one.name == "a_lease_that_is_not_renewed_ends") {
                one.who = begins::java;
            }
        }
        add(fair_order_checks());
        add(fair_absence_checks());
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

// Redisson's fair lock has no tokens.
primitive fair_lock_primitive() {
    return lock_like("fair_lock", false, true);
}

}  // namespace holdfast::test
