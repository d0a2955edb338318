// The smallest program: acquires a lock, prints its fencing token, gives it back. Takes the URL of
// a server as its argument.
#include <holdfast/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstdio>
#include <exception>

namespace asio = boost::asio;

asio::awaitable<void> hello(char const* url) {
    holdfast::client client{co_await asio::this_coro::executor, url};
    auto lease = co_await client.lock("hello").acquire();
    std::printf("token %llu\n", static_cast<unsigned long long>(lease.token().value));
    co_await lease.release();
}

int main(int argc, char** argv) {
    asio::io_context context;
    int result = 0;
    asio::co_spawn(
        context,
        hello(argc > 1 ? argv[1] : "redis://127.0.0.1"),
        [&](std::exception_ptr failure) { result = failure ? 1 : 0; }
    );
    context.run();
    return result;
}
