// The clock of leases goes on while the machine is suspended. Here a time namespace stands in for
// the suspend: in it the clock that counts suspends is hours ahead of the one that does not.

#include <holdfast/lease_clock.hpp>

#include "support/one_server.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

using namespace holdfast::test;

namespace {

enum result { counts_suspends, stands_still, no_namespace };

std::chrono::nanoseconds monotonic() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

result compare_clocks() {
    auto const ahead = lease_clock::now().time_since_epoch() - monotonic();
    return ahead > 1h ? counts_suspends : stands_still;
}

int wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : no_namespace;
}

// The namespace is for the children of the process that makes it.
result compare_in_namespace() {
    if (::unshare(CLONE_NEWTIME) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0) {
        return no_namespace;
    }
    constexpr std::string_view offset = "boottime 7200 0\n";
    int const file = ::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    if (file < 0 || ::write(file, offset.data(), offset.size()) < 0) {
        return no_namespace;
    }
    ::close(file);
    pid_t const child = ::fork();
    if (child == 0) {
        ::_exit(compare_clocks());
    }
    return static_cast<result>(wait_for(child));
}

bool namespaces_are_allowed() {
    pid_t const child = ::fork();
    if (child == 0) {
        ::_exit(compare_in_namespace() == no_namespace ? 1 : 0);
    }
    return wait_for(child) == 0;
}

struct if_namespaces_are_allowed {
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
        return namespaces_are_allowed();
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(
    the_clock_of_leases_counts_the_time_of_a_suspend,
    *boost::unit_test::precondition(if_namespaces_are_allowed{})
) {
    pid_t const child = ::fork();
    if (child == 0) {
        ::_exit(compare_in_namespace());
    }
    BOOST_TEST(wait_for(child) == counts_suspends);
}
