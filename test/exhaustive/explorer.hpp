#ifndef HOLDFAST_EXHAUSTIVE_EXPLORER_HPP
#define HOLDFAST_EXHAUSTIVE_EXPLORER_HPP

#include "exhaustive/context.hpp"
#include "exhaustive/scope.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::exhaustive {

struct counter_example {
    violation broken;
    /// The shortest way there, a line a move.
    std::vector<std::string> trace;
};

struct exploration {
    std::size_t worlds = 0;
    std::size_t moves = 0;
    /// The most moves that it takes to reach a world.
    std::size_t depth = 0;
    double seconds = 0;
    std::size_t client_values = 0;
    std::size_t machine_values = 0;
    std::uint64_t reached = 0;
    std::optional<counter_example> found;
};

/// Visits every world within the scope, breadth first, and stops at the first that breaks a rule.
///
/// Worlds are taken for one if they are equal, value by value; if they differ in nothing that is
/// looked at again; or if they are the same but for the names of two clients that may do the same.
/// The visited ones are kept whole, not as hashes.
exploration explore(scope const& of);

/// The figures in a line.
std::string to_text(scope const& of, exploration const& result);
/// The rule and the way there, in lines.
std::string to_text(counter_example const& found);

}  // namespace holdfast::exhaustive

#endif
