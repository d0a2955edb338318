#include <holdfast.hpp>

#include <boost/asio.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> sell(char const* url) {
    holdfast::client client{co_await asio::this_coro::executor, url};
    auto lease = co_await client.lock("stock:{}", "apple").acquire();
    std::cout << "mine, with token " << lease.token().value << std::endl;
    co_await lease.release();
}

int main(int argc, char** argv) {
    asio::io_context context;
    asio::co_spawn(
        context,
        sell(argc > 1 ? argv[1] : "redis://127.0.0.1"),
        [](std::exception_ptr e) {
            if (e) {
                std::rethrow_exception(e);
            }
        }
    );
    context.run();
}
