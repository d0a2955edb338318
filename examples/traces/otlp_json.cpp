#include "otlp_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <chrono>

namespace traces {

namespace json = boost::json;

namespace {

constexpr int kind_internal = 1;
constexpr int status_error = 2;

// 64-bit numbers are texts in the JSON form of Protocol Buffers.
json::string nanoseconds(wall_time at) {
    std::chrono::nanoseconds const since_1970 = at.time_since_epoch();
    return json::string{fmt::format("{}", since_1970.count())};
}

json::object attribute(std::string_view key, std::string_view value) {
    return {{"key", key}, {"value", {{"stringValue", value}}}};
}

json::object to_json(span const& one) {
    json::array attributes;
    for (auto const& [key, value] : one.attributes) {
        attributes.push_back(attribute(key, value));
    }
    json::array events;
    for (auto const& [at, name] : one.events) {
        events.push_back({{"timeUnixNano", nanoseconds(at)}, {"name", name}});
    }
    json::object result{
        {"traceId", fmt::format("{:016x}{:016x}", one.self.trace[0], one.self.trace[1])},
        {"spanId", fmt::format("{:016x}", one.self.span)},
        {"name", one.name},
        {"kind", kind_internal},
        {"startTimeUnixNano", nanoseconds(one.from)},
        {"endTimeUnixNano", nanoseconds(one.until)},
        {"attributes", std::move(attributes)},
        {"events", std::move(events)},
    };
    if (one.parent != 0) {
        result["parentSpanId"] = fmt::format("{:016x}", one.parent);
    }
    if (!one.failure.empty()) {
        result["status"] = {{"code", status_error}, {"message", one.failure}};
    }
    return result;
}

}  // namespace

std::string to_otlp_json(std::string_view service_name, std::vector<span> const& spans) {
    json::array all;
    for (auto const& one : spans) {
        all.push_back(to_json(one));
    }
    json::object scope{{"scope", {{"name", "holdfast"}}}, {"spans", std::move(all)}};
    json::object resource{
        {"resource", {{"attributes", json::array{attribute("service.name", service_name)}}}},
        {"scopeSpans", json::array{std::move(scope)}},
    };
    return json::serialize(json::object{{"resourceSpans", json::array{std::move(resource)}}});
}

}  // namespace traces
