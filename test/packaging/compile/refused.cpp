// What the compiler has to refuse. The script beside it compiles this file as it is, and then with
// REFUSED: each line that ends in `refused: TEXT` must then have a message with that text.

#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace asio = boost::asio;

asio::awaitable<void> try_once(holdfast::lock lock);
asio::awaitable<void> try_once(holdfast::lock lock) {
    if (auto lease = co_await lock.try_acquire()) {
        co_await lease.release();
    }
#ifdef REFUSED
    if (co_await lock.try_acquire()) {  // refused: deleted
    }
    if (!co_await lock.try_acquire()) {  // refused: deleted
    }
    if ((co_await lock.try_acquire()).valid()) {  // refused: deleted
    }
#endif
}

void make_locks(holdfast::client const& client, std::string const& made_later);
void make_locks(holdfast::client const& client, std::string const& made_later) {
    static_cast<void>(client.lock("{tag}:stock"));
    static_cast<void>(client.lock("stock:{}", 7));
    static_cast<void>(client.lock(std::string_view{"stock:{}"}));
    static_cast<void>(client.lock(made_later));
#ifdef REFUSED
    static_cast<void>(client.lock("stock:{}"));     // refused: field_without_an_argument
    static_cast<void>(client.lock("stock:{0}"));    // refused: field_without_an_argument
    static_cast<void>(client.lock("stock:{:>5}"));  // refused: field_without_an_argument
#endif
}

struct move_only {
    std::unique_ptr<int> owned;
    void operator()(holdfast::error_code, holdfast::lease) {}
};

void start(holdfast::lock const& lock, move_only handler);
void start(holdfast::lock const& lock, move_only handler) {
#ifdef REFUSED
    lock.acquire(handler);  // refused: no match
#endif
    lock.acquire(std::move(handler));
}
