// Replies put together from any sequence of events, those too that no parser gives: a type with a
// value that does not fit, a node without a beginning, a reply without an end.

#include "fuzz/input.hpp"
#include "fuzz/reply_checks.hpp"
#include "fuzz/targets.hpp"
#include "redis/replies.hpp"

#include <boost/redis/resp3/type.hpp>

#include <cstddef>
#include <deque>
#include <string>

namespace holdfast::fuzz {

namespace {

using boost::redis::resp3::type;

// Words that the library looks for, to be found at once.
constexpr std::string_view words[] = {
    "n0nce",
    "master",
    "slave",
    "NOSCRIPT",
    "READONLY",
    "OOM",
    "ERR ",
    "ERR Error running script (call to f_0): @user_script: 1: -",
    "NOPERM",
    "WRONGTYPE Operation against a key",
    "NOAUTH Authentication required.",
    "user can't",
    ", with args beginning with: `s3cret`",
    "maxmemory:1\r\n",
    "maxmemory_policy:noeviction",
    "-9223372036854775808",
    "9223372036854775807",
    "9223372036854775808",
};

std::string any_value(input& in) {
    std::string value;
    for (auto pieces = in.below(4); pieces > 0; --pieces) {
        value += in.flag() ? std::string{in.one_of(words)} : in.text(24);
    }
    return value;
}

}  // namespace

void reply_events(bytes data) {
    input in{data};
    checked_probe handshake{in};
    checked_collector collector;
    // Nodes are views.
    std::deque<std::string> values;
    // In the middle of a reply is where a connection may begin to be read.
    auto what = in.flag() ? parse_event::init : parse_event::node;
    while (!in.empty()) {
        node_view node;
        if (what == parse_event::node) {
            node.data_type =
                static_cast<type>(in.below(static_cast<std::size_t>(type::invalid) + 1));
            node.depth = in.below(8);
            node.aggregate_size = in.number<std::uint64_t>();
            node.value = values.emplace_back(any_value(in));
        }
        // The connection ends at what is refused.
        if (collector.on_event(what, node)) {
            return;
        }
        if (handshake.wants_more()) {
            check(!handshake.on_event(what, node), "what one reader takes another takes too");
            if (what == parse_event::done) {
                handshake.check_verdict();
            }
        }
        constexpr parse_event next[] = {
            parse_event::node,
            parse_event::node,
            parse_event::done,
            parse_event::init,
        };
        what = in.one_of(next);
    }
}

}  // namespace holdfast::fuzz
