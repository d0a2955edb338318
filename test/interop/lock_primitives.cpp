#include "interop/checks.hpp"

namespace holdfast::test {

namespace {

template <class Lock>
asio::awaitable<lock_info> look_at(Lock what) {
    co_return co_await what.inspect(asio::use_awaitable);
}

asio::awaitable<lock_info> look_at_lock(client& by, std::string const& name) {
    return look_at(by.lock(name));
}

asio::awaitable<lock_info> look_at_fair_lock(client& by, std::string const& name) {
    return look_at(by.fair_lock(name));
}

asio::awaitable<lock_info> look_at_writer(client& by, std::string const& name) {
    return look_at(by.read_write_lock(name).write());
}

auto java_actors(std::string const& name, bool has_tokens) {
    return [name, has_tokens](java_peer& by, std::string const& key) {
        return java_lock_actor(by, name, key, has_tokens);
    };
}

void add(primitive& to, std::vector<check> const& more) {
    to.checks.insert(to.checks.end(), more.begin(), more.end());
}

primitive lock_like(std::string const& name, bool has_tokens) {
    primitive made{
        .name = name,
        .has_tokens = has_tokens,
        .ours = &our_lock_actor,
        .java = java_actors(name, has_tokens),
        .inspect = &look_at_lock,
        .checks = lock_turn_checks(),
    };
    add(made, lock_loss_checks());
    if (has_tokens) {
        add(made, lock_token_checks());
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
    auto made = lock_like("fair_lock", false);
    made.is_fair = true;
    made.holder_word = "fair";
    made.ours = &our_fair_lock_actor;
    made.inspect = &look_at_fair_lock;
    for (auto& one : made.checks) {
        // 3.23.5 may tell its waiters to sleep until they are told, whenever the holder's lease
        // ends.
        if (one.name == "a_killed_holder_is_succeeded" ||
            one.name == "a_lease_that_is_not_renewed_ends") {
            one.who = begins::java;
        }
    }
    add(made, fair_order_checks());
    add(made, fair_absence_checks());
    return made;
}

primitive write_lock_primitive() {
    auto made = lock_like("write_lock", false);
    made.holder_word = "write";
    made.channel = "redisson_rwlock";
    made.field_end = ":write";
    made.content_if_gone = true;
    // Java's release wakes the threads that sleep. One that was refused, and does not sleep yet, is
    // not woken: it sleeps until the end of the lease that it was refused for.
    made.java_lease = 4s;
    made.ours = &our_write_lock_actor;
    made.inspect = &look_at_writer;
    return made;
}

primitive read_lock_primitive() {
    return {
        .name = "read_lock",
        .has_tokens = false,
        .holder_word = "read",
        .channel = "redisson_rwlock",
        .ours = &our_read_lock_actor,
        .java = java_actors("read_lock", false),
        .checks = reading_checks(),
    };
}

}  // namespace holdfast::test
