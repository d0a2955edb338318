#include "span.hpp"

#include <random>

namespace traces {

namespace {

std::uint64_t random_id() {
    thread_local std::mt19937_64 engine{
        (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()
    };
    std::uniform_int_distribution<std::uint64_t> not_zero{1};
    return not_zero(engine);
}

constexpr std::size_t most_events = 128;

}  // namespace

span_context new_span_context(span_context const& parent) {
    span_context made{parent.trace, random_id()};
    if (!parent) {
        made.trace = {random_id(), random_id()};
    }
    return made;
}

void span::add_event(std::string what) {
    if (events.size() < most_events) {
        events.push_back({std::chrono::system_clock::now(), std::move(what)});
    }
}

}  // namespace traces
