#ifndef TRACES_SPAN_HPP
#define TRACES_SPAN_HPP

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace traces {

using wall_time = std::chrono::system_clock::time_point;

/// Where a span belongs: what its children need to know of it. All zero means nowhere.
struct span_context {
    std::array<std::uint64_t, 2> trace{};
    std::uint64_t span = 0;

    [[nodiscard]] explicit operator bool() const noexcept { return span != 0; }
};

/// A new span below `parent`, or one that begins a trace.
[[nodiscard]] span_context new_span_context(span_context const& parent = {});

/// Something that took some time.
struct span {
    struct event {
        wall_time at;
        std::string name;
    };

    span_context self;
    std::uint64_t parent = 0;
    std::string name;
    wall_time from = std::chrono::system_clock::now();
    wall_time until{};
    std::vector<std::pair<std::string, std::string>> attributes{};
    std::vector<event> events{};
    /// Why it failed; empty if it did not.
    std::string failure{};

    /// Those beyond the 128th are left out, as OpenTelemetry's libraries do.
    void add_event(std::string what);
};

}  // namespace traces

#endif
