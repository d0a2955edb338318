#ifndef HOLDFAST_EXHAUSTIVE_SERVER_HPP
#define HOLDFAST_EXHAUSTIVE_SERVER_HPP

#include "exhaustive/context.hpp"
#include "exhaustive/world.hpp"

namespace holdfast::exhaustive {

struct answer {
    outcome what = outcome::none;
    std::uint8_t value = 0;
};

/// What the scripts of `src/redis/scripts` do, and what becomes of the key. A message goes to those
/// who are subscribed. Checks what a script may do to the key.
answer execute(context& ctx, world& w, script what, std::uint8_t holder);

/// Somebody removes the key and says so.
void remove(context& ctx, world& w);

/// Executes what a client's notice connection asks for first.
void execute_subscription(context& ctx, world& w, int client);

/// The key goes when its time has come; nobody is told.
void expire(lock_server& s, tick now) noexcept;

}  // namespace holdfast::exhaustive

#endif
