#include "disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::test {

std::string_view name_of(break_kind how) {
    switch (how) {
        case break_kind::fin: return "FIN";
        case break_kind::rst: return "RST";
        case break_kind::brief_stall: return "brief stall";
        case break_kind::stall: return "stall";
        case break_kind::black_hole: break;
    }
    return "black hole";
}

disturbance make_break(break_kind how, std::size_t offset, bool from_end) {
    auto fault = stream_fault::stall;
    auto stall = disturbance::end::none;
    switch (how) {
        case break_kind::fin: fault = stream_fault::cut; break;
        case break_kind::rst: fault = stream_fault::reset; break;
        case break_kind::black_hole: fault = stream_fault::drop; break;
        case break_kind::brief_stall: stall = disturbance::end::soon; break;
        case break_kind::stall: stall = disturbance::end::when_given_up; break;
    }
    return {
        .name = fmt::format(
            "{} {} bytes {}",
            name_of(how),
            offset,
            from_end ? "before its end" : "from its start"
        ),
        .rewrite =
            [=](std::string const& message) {
                auto const part = std::min(offset, message.size());
                auto const at = from_end ? message.size() - part : part;
                return message_parts{message.substr(0, at), fault, message.substr(at)};
            },
        .stall = stall
    };
}

}  // namespace holdfast::test
