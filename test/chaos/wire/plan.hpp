#ifndef HOLDFAST_TEST_WIRE_PLAN_HPP
#define HOLDFAST_TEST_WIRE_PLAN_HPP

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// Whether HOLDFAST_WIRE=full is set: everything is to be run.
bool full_run();

/// How long a test program may run.
std::chrono::seconds run_limit();

/// Whether HOLDFAST_WIRE_ONLY is not set, or to this.
bool is_asked_for(std::string_view what);

/// The seed of this run, from HOLDFAST_WIRE_SEED or drawn; it is printed when it is first asked
/// for.
unsigned run_seed();

/// The numbers below `count`, in an order that the seed decides.
std::vector<std::size_t> in_any_order(std::size_t count);

/// Which of `count` cases are run, and in which order: all of them in a full run, else every
/// `stride`-th. The seed decides the order and where the stride starts.
std::vector<std::size_t> choose(std::size_t count, std::size_t stride);

}  // namespace holdfast::test

#endif
