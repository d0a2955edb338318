#ifndef HOLDFAST_CLI_FINDING_HPP
#define HOLDFAST_CLI_FINDING_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::cli {

enum class severity : std::uint8_t {
    ok,
    /// Locks work, and something may go wrong with them.
    warning,
    /// Locks do not work, or two may hold one.
    fault,
};

/// What one check of `doctor` came to.
struct finding {
    severity what = severity::ok;
    /// What was looked at: one or two words.
    std::string check;
    std::string text;
    /// What to do about it. Empty: nothing.
    std::string hint = {};

    friend bool operator==(finding const&, finding const&) = default;
};

[[nodiscard]] inline finding good(std::string check, std::string text) {
    return {severity::ok, std::move(check), std::move(text)};
}
[[nodiscard]] inline finding warning(std::string check, std::string text, std::string hint) {
    return {severity::warning, std::move(check), std::move(text), std::move(hint)};
}
[[nodiscard]] inline finding fault(std::string check, std::string text, std::string hint) {
    return {severity::fault, std::move(check), std::move(text), std::move(hint)};
}

/// What was found at one server, or with all of them where that has no name.
struct examination {
    std::string server;
    std::vector<finding> findings = {};
};

}  // namespace holdfast::cli

#endif
