#include "cli/run/environment.hpp"

namespace holdfast::cli {

std::vector<std::string> environment_for(
    char const* const* own,
    std::string_view name,
    fencing_token token
) {
    constexpr std::string_view name_variable = "HOLDFAST_NAME=";
    constexpr std::string_view token_variable = "HOLDFAST_TOKEN=";
    std::vector<std::string> all;
    for (; own != nullptr && *own != nullptr; ++own) {
        std::string_view const variable{*own};
        if (!variable.starts_with(name_variable) && !variable.starts_with(token_variable)) {
            all.emplace_back(variable);
        }
    }
    all.push_back(std::string{name_variable}.append(name));
    all.push_back(std::string{token_variable}.append(to_string(token)));
    return all;
}

}  // namespace holdfast::cli
