// A process that holds a lock and says when its lease is lost. SIGSTOP, SIGCONT and SIGKILL come
// from outside. With "learned" it has held the lock briefly before, several times. Any other word
// is the lock's name, which is "a" without it; with "fair", "read" or "write" after it,
// it is a fair lock, or has one side of a read/write lock.

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace asio = boost::asio;

namespace {

constexpr auto as_code = asio::as_tuple(asio::use_awaitable);

void say(std::string const& what) {
    std::printf("%s\n", what.c_str());
    std::fflush(stdout);
}

using clock_type = std::chrono::steady_clock;

// Looks at the time as often as it can: a pause shows as a gap.
asio::awaitable<void> notice_a_pause(asio::steady_timer& timer, clock_type::time_point last) {
    for (;;) {
        auto const now = clock_type::now();
        if (now - last >= std::chrono::seconds{1}) {
            co_return;
        }
        last = now;
        timer.expires_after(std::chrono::milliseconds{2});
        co_await timer.async_wait(asio::use_awaitable);
    }
}

// As usual holders do.
asio::awaitable<void> hold_often(asio::io_context& context, holdfast::lock lock) {
    asio::steady_timer timer{context};
    for (int i = 0; i < 20; ++i) {
        auto lease = co_await lock.acquire({.lease = holdfast::learned});
        timer.expires_after(std::chrono::milliseconds{50});
        co_await timer.async_wait(asio::use_awaitable);
        co_await lease.release();
    }
}

asio::awaitable<void> hold_once_more(asio::io_context& context, std::string url) {
    holdfast::client client{context.get_executor(), url};
    auto lock = client.lock("a");
    co_await hold_often(context, lock);
    auto lease = co_await lock.acquire({.lease = holdfast::learned});
    say("token " + std::to_string(lease.token().value));
    co_await lease.wait_lost();
}

template <class Make>
asio::awaitable<void> hold(asio::io_context& context, std::string url, Make make) {
    auto settings = holdfast::parse_url(url);
    settings.lease = std::chrono::seconds{1};
    holdfast::client client{context.get_executor(), settings};
    auto lock = make(client);
    auto lease = co_await lock.acquire();
    asio::steady_timer timer{context};
    auto const before = clock_type::now();  // the pause may come with the next word
    say("token " + std::to_string(lease.token().value));
    co_await notice_a_pause(timer, before);
    say(lease.valid() ? "valid" : "invalid");
    auto [watched, reason] = co_await lease.wait_lost(as_code);
    say(watched ? "no loss" : "lost");
    auto [released] = co_await lease.release(as_code);
    say(released == holdfast::errc::lease_lost ? "released: lease_lost"
                                               : "released: " + released.message());
}

asio::awaitable<void> hold(
    asio::io_context& context,
    std::string url,
    std::string name,
    std::string kind
) {
    auto const make = [name](holdfast::client& of) { return of.lock(name); };
    auto const make_fair = [name](holdfast::client& of) { return of.fair_lock(name); };
    auto const make_read = [name](holdfast::client& of) { return of.read_write_lock(name).read(); };
    auto const make_write = [name](holdfast::client& of) {
        return of.read_write_lock(name).write();
    };
    return kind == "fair"    ? hold(context, url, make_fair)
           : kind == "read"  ? hold(context, url, make_read)
           : kind == "write" ? hold(context, url, make_write)
                             : hold(context, url, make);
}

}  // namespace

int main(int argc, char** argv) {
    std::string const word = argc > 2 ? argv[2] : "a";
    std::string const kind = argc > 3 ? argv[3] : "";
    bool const known = kind.empty() || kind == "fair" || kind == "read" || kind == "write";
    if (argc < 2 || argc > 4 || !known) {
        std::fprintf(stderr, "usage: %s URL [learned | LOCK [fair | read | write]]\n", argv[0]);
        return 2;
    }
    asio::io_context context;
    auto holds =
        word == "learned" ? hold_once_more(context, argv[1]) : hold(context, argv[1], word, kind);
    asio::co_spawn(context, std::move(holds), [](std::exception_ptr e) {
        if (e) {
            std::rethrow_exception(e);
        }
    });
    context.run();
}
