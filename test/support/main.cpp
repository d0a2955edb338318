// The runner of every test program. It is in a file of its own because it is slow to compile.
#define BOOST_TEST_MODULE holdfast
#include <boost/test/included/unit_test.hpp>
