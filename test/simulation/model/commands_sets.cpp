#include "commands.hpp"

namespace holdfast::sim {

std::span<command_spec const> set_commands() {
    return {};
}

}  // namespace holdfast::sim
