// A program that uses Boost.Redis for itself: writes a key while it has the lock of the same
// server, whose URL (unix://…) is the argument.
#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/redis/connection.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace redis = boost::redis;

asio::awaitable<void> write(char const* url) {
    holdfast::client client{co_await asio::this_coro::executor, url};
    redis::connection connection{co_await asio::this_coro::executor};
    redis::config settings;
    settings.unix_socket = holdfast::parse_url(url).unix_socket;
    connection.async_run(settings, asio::detached);

    auto lease = co_await client.lock("consumer").acquire();
    redis::request request;
    request.push("SET", "written", std::to_string(lease.token().value));
    request.push("GET", "written");
    redis::response<redis::ignore_t, std::string> response;
    co_await connection.async_exec(request, response, asio::deferred);
    std::cout << "token " << std::get<1>(response).value() << '\n';
    co_await lease.release();
    connection.cancel();
}

int main(int, char** argv) {
    asio::io_context context;
    asio::co_spawn(context, write(argv[1]), [](std::exception_ptr failure) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    });
    context.run();
}
