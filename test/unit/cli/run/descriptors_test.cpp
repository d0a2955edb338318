// A command gets the descriptors that the program was started with.

#include "cli/run/descriptors.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

using holdfast::cli::inherited_descriptors;

namespace {

bool closes_on_exec(int descriptor) {
    return (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_descriptors_test)

BOOST_AUTO_TEST_CASE(only_what_was_opened_later_is_kept) {
    int const before = ::open("/dev/null", O_RDONLY);
    inherited_descriptors const all;
    int const later = ::open("/dev/null", O_RDONLY);
    BOOST_REQUIRE(before >= 0);
    BOOST_REQUIRE(later >= 0);
    BOOST_TEST(!closes_on_exec(later));
    all.keep_the_others();
    BOOST_TEST(closes_on_exec(later));
    BOOST_TEST(!closes_on_exec(before));
    BOOST_TEST(!closes_on_exec(STDERR_FILENO));
    ::close(later);
    ::close(before);
}

BOOST_AUTO_TEST_SUITE_END()
