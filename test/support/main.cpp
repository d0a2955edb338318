// The runner of every test program. It is in a file of its own because it is slow to compile.
#define BOOST_TEST_MODULE holdfast
#include <boost/test/included/unit_test.hpp>

#include <iostream>

namespace {

// Clients with default settings log to std::clog. Tests provoke what they report there.
struct quiet_clients {
    quiet_clients() { std::clog.rdbuf(nullptr); }
};

}  // namespace

BOOST_TEST_GLOBAL_CONFIGURATION(quiet_clients);
