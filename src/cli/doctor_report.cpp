#include "cli/doctor_report.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace holdfast::cli {

namespace {

std::string painted(severity what, style const& colours) {
    // Padded before it is coloured: the codes have no width.
    auto const text = fmt::format("{:<7}", name_of(what));
    switch (what) {
        case severity::ok: return colours.good(text);
        case severity::warning: return colours.warning(text);
        case severity::fault: break;
    }
    return colours.bad(text);
}

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string_view name_of(severity what) noexcept {
    switch (what) {
        case severity::ok: return "ok";
        case severity::warning: return "warning";
        case severity::fault: break;
    }
    return "fault";
}

severity worst_of(std::vector<examination> const& all) noexcept {
    auto worst = severity::ok;
    for (auto const& one : all) {
        for (auto const& found : one.findings) {
            worst = std::max(worst, found.what);
        }
    }
    return worst;
}

exit_code exit_code_of(std::vector<examination> const& all) noexcept {
    return worst_of(all) == severity::fault ? exit_code::failure : exit_code::success;
}

std::string report_of(std::vector<examination> const& all, style const& colours, bool quiet) {
    std::string text;
    std::size_t faults = 0;
    std::size_t warnings = 0;
    for (auto const& one : all) {
        text += fmt::format("{}\n", colours.strong(one.server));
        for (auto const& found : one.findings) {
            faults += found.what == severity::fault ? 1 : 0;
            warnings += found.what == severity::warning ? 1 : 0;
            if (quiet && found.what == severity::ok) {
                continue;
            }
            text += fmt::format(
                "  {}  {:<11}  {}\n",
                painted(found.what, colours),
                found.check,
                found.text
            );
            if (!found.hint.empty()) {
                text += fmt::format("{:24}{}\n", "", colours.faint("→ " + found.hint));
            }
        }
    }
    text += faults + warnings == 0
                ? "no fault found\n"
                : fmt::format("{}, {}\n", counted(faults, "fault"), counted(warnings, "warning"));
    return text;
}

std::string json_of(std::vector<examination> const& all) {
    boost::json::array findings;
    for (auto const& one : all) {
        for (auto const& found : one.findings) {
            boost::json::object made{
                {"server", one.server},
                {"check", found.check},
                {"severity", name_of(found.what)},
                {"text", found.text},
            };
            if (!found.hint.empty()) {
                made["hint"] = found.hint;
            }
            findings.push_back(std::move(made));
        }
    }
    boost::json::object const whole{
        {"worst", name_of(worst_of(all))},
        {"findings", std::move(findings)},
    };
    return boost::json::serialize(whole);
}

}  // namespace holdfast::cli
