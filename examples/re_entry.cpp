// Re-entry: a function that holds a lock calls another one that acquires the same lock. They pass
// an owner along; to the lock both are the same task. With another owner, or none, it would wait.
#include "main.hpp"

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <utility>

namespace {

// May be called by itself, too: it does not rely on its caller to have the lock.
asio::awaitable<holdfast::fencing_token> add(holdfast::lock const& account, holdfast::owner who) {
    auto lease = co_await account.acquire({.owner = who});
    fmt::print("  add has token {}\n", lease.token().value);
    auto const token = lease.token();
    co_await lease.release();
    co_return token;
}

asio::awaitable<bool> is_free_for(holdfast::lock const& account, holdfast::owner who) {
    auto lease = co_await account.try_acquire({.owner = who});
    bool const granted{lease};
    if (granted) {
        co_await lease.release();
    }
    fmt::print("another owner {}\n", granted ? "gets the lock" : "has to wait");
    co_return granted;
}

asio::awaitable<void> transfer(
    holdfast::lock const& account,
    holdfast::owner who,
    holdfast::owner other
) {
    auto lease = co_await account.acquire({.owner = who});
    fmt::print("transfer has token {}\n", lease.token().value);
    auto const token = co_await add(account, who);
    expect(token == lease.token(), "it was another grant");

    // The release in add() was not the last one.
    bool const too_early = co_await is_free_for(account, other);
    expect(!too_early, "two owners have the lock");
    co_await lease.release();
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, std::move(config)};
    auto account = client.lock("account");
    auto const who = holdfast::owner::make();
    auto const other = holdfast::owner::make();

    co_await transfer(account, who, other);
    bool const freed = co_await is_free_for(account, other);
    expect(freed, "the last release did not free the lock");
}
