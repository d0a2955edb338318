#ifndef HOLDFAST_TEST_FIDELITY_REFUSAL_CALLS_HPP
#define HOLDFAST_TEST_FIDELITY_REFUSAL_CALLS_HPP

#include "fidelity/twin.hpp"

#include <vector>

namespace holdfast::test {

// What a server is asked that may refuse it.

using commands = std::vector<twin::words>;

/// A lock that is held, one of somebody else, one that is free: in a server that refuses nothing
/// yet.
commands scene();
commands plain_commands();
/// Those, and calls of scripts: the library's, and others that write at any point or say that they
/// do not.
commands all_calls();

}  // namespace holdfast::test

#endif
