#include "commands.hpp"

namespace holdfast::sim {

std::span<command_spec const> list_commands() {
    return {};
}

}  // namespace holdfast::sim
