// What the examples share.
#ifndef HOLDFAST_EXAMPLES_MAIN_HPP
#define HOLDFAST_EXAMPLES_MAIN_HPP

#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <stdexcept>
#include <utility>

namespace asio = boost::asio;

/// The example, unless it has a main of its own. main.cpp runs it with the server whose URL is the
/// program's last argument.
asio::awaitable<void> co_main(holdfast::config config);

/// Runs a coroutine to its end, and throws what it throws.
inline void run(asio::awaitable<void> program) {
    asio::io_context context{1};  // run by one thread, so that nothing needs a strand
    std::exception_ptr failure;
    asio::co_spawn(context, std::move(program), [&](std::exception_ptr e) { failure = e; });
    context.run();  // returns when the clients have given back what they had
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// An example that did not show what it is meant to show fails.
inline void expect(bool shown, char const* what) {
    if (!shown) {
        throw std::runtime_error{what};
    }
}

#endif
