// What the examples share.
#ifndef HOLDFAST_EXAMPLES_MAIN_HPP
#define HOLDFAST_EXAMPLES_MAIN_HPP

#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>

#include <stdexcept>

namespace asio = boost::asio;

/// The example. main.cpp runs it and ends when it does; an exception makes the program fail.
asio::awaitable<void> co_main(holdfast::config config);

/// An example that did not show what it is meant to show fails.
inline void expect(bool shown, char const* what) {
    if (!shown) {
        throw std::runtime_error{what};
    }
}

#endif
