// The test runner, which is slow to compile: in a file of its own.
#define BOOST_TEST_MODULE orders
#include <boost/test/included/unit_test.hpp>
