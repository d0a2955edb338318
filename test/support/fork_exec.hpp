#ifndef HOLDFAST_TEST_SUPPORT_FORK_EXEC_HPP
#define HOLDFAST_TEST_SUPPORT_FORK_EXEC_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::test {

struct standard_streams {
    int input;
    int output;
    int error;
};

/// Starts a program with these descriptors as its standard streams and no others open.
/// Returns its pid; or -1, with the cause in `error`.
pid_t fork_exec(std::vector<std::string> const& argv, standard_streams streams, int& error);

}  // namespace holdfast::test

#endif
