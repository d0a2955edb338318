#include "commands.hpp"

namespace holdfast::sim {

std::span<command_spec const> sorted_set_commands() {
    return {};
}

}  // namespace holdfast::sim
