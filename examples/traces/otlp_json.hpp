#ifndef TRACES_OTLP_JSON_HPP
#define TRACES_OTLP_JSON_HPP

#include "span.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace traces {

/// The body of a request to an OpenTelemetry collector: an `ExportTraceServiceRequest` of OTLP in
/// its JSON form.
[[nodiscard]] std::string to_otlp_json(
    std::string_view service_name,
    std::vector<span> const& spans
);

}  // namespace traces

#endif
