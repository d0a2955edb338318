// Runs an example with the server whose URL is its last argument.
#include "main.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <utility>

int main(int argc, char** argv) try {
    auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
    asio::io_context context{1};  // run by one thread: an example needs no strand
    std::exception_ptr failure;
    asio::co_spawn(context, co_main(std::move(config)), [&](std::exception_ptr e) { failure = e; });
    context.run();  // returns when the clients have given back what they had
    if (failure) {
        std::rethrow_exception(failure);
    }
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
