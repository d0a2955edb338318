#include <holdfast/logger.hpp>

#include <fmt/format.h>

#include <iostream>

namespace holdfast {

std::string_view to_string(log_level level) noexcept {
    switch (level) {
        case log_level::error: return "error";
        case log_level::warning: return "warning";
        case log_level::info: return "info";
        case log_level::debug: return "debug";
    }
    return "unknown";
}

void log_to_stderr(log_level level, std::string_view message) noexcept {
    if (level != log_level::error && level != log_level::warning) {
        return;
    }
    try {
        // One piece: lines of several clients do not mix.
        std::clog << fmt::format("holdfast: {}: {}\n", to_string(level), message) << std::flush;
    } catch (...) {
        // Out of memory, or the program made its stream throw: the line is lost.
    }
}

}  // namespace holdfast
