#ifndef HOLDFAST_TEST_WIRE_DISTURBANCE_HPP
#define HOLDFAST_TEST_WIRE_DISTURBANCE_HPP

#include "support/proxy_faults.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace holdfast::test {

/// What happens, once, to one message of the server.
struct disturbance {
    /// For reports.
    std::string name;

    /// What becomes of the message. Runs on the proxy's thread.
    std::function<message_parts(std::string const&)> rewrite;

    /// It is held back until the next message on that connection has passed.
    bool overtaken = false;

    /// When each stall ends that it becomes.
    enum class end { none, soon, when_given_up };
    end stall = end::none;

    /// The client is told something that is not true, and cannot see that: any error may come of
    /// it, but no false grant.
    bool lies = false;

    /// An operation may end with this, besides what it may end with anyway.
    errc may_cause = errc{};

    /// What becomes of the connection.
    enum class epoch { any, dropped, kept };
    epoch then = epoch::any;

    /// Other requests of the client are under way before and after.
    bool crowded = false;
};

/// A failure of the connection.
enum class break_kind { fin, rst, brief_stall, stall, black_hole };
inline constexpr std::size_t break_kinds = 5;

std::string_view name_of(break_kind how);

/// The connection fails after so many bytes of the message, or before the last so many.
disturbance make_break(break_kind how, std::size_t offset, bool from_end);

}  // namespace holdfast::test

#endif
