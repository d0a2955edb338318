#ifndef HOLDFAST_CLI_DOCTOR_REPORT_HPP
#define HOLDFAST_CLI_DOCTOR_REPORT_HPP

#include "cli/exit_code.hpp"
#include "cli/finding.hpp"
#include "cli/style.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

[[nodiscard]] std::string_view name_of(severity what) noexcept;

/// The worst of all; `ok` if there is nothing.
[[nodiscard]] severity worst_of(std::vector<examination> const& all) noexcept;

/// `success`, or `failure` if there is a fault: a warning is no reason to stop a deployment.
[[nodiscard]] exit_code exit_code_of(std::vector<examination> const& all) noexcept;

/// For people: a line for each finding, and one more with its hint. `quiet` leaves out what is
/// well.
[[nodiscard]] std::string report_of(
    std::vector<examination> const& all,
    style const& colours,
    bool quiet = false
);

/// One line of JSON:
/// `{"worst":"fault","findings":[{"server":…,"check":…,"severity":…,"text":…,"hint":…}, …]}`.
[[nodiscard]] std::string json_of(std::vector<examination> const& all);

}  // namespace holdfast::cli

#endif
