// A program whose own library uses Boost.Redis: writes a key while it has the lock of the same
// server, whose URL (unix://…) is the argument.
#include "note.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <iostream>

asio::awaitable<void> write(char const* url, redis::connection& connection) {
    holdfast::client client{co_await asio::this_coro::executor, url};
    redis::config settings;
    settings.unix_socket = holdfast::parse_url(url).unix_socket;
    connection.async_run(settings, asio::detached);

    auto lease = co_await client.lock("consumer").acquire();
    std::cout << "token " << co_await note(connection, std::to_string(lease.token().value)) << '\n';
    co_await lease.release();
    connection.cancel();
}

int main(int, char** argv) {
    asio::io_context context;
    redis::connection connection{context};  // it must outlive what it was asked to do
    asio::co_spawn(context, write(argv[1], connection), [](std::exception_ptr failure) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    });
    context.run();
}
