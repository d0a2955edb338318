#ifndef HOLDFAST_TEST_FUZZ_REPLY_CHECKS_HPP
#define HOLDFAST_TEST_FUZZ_REPLY_CHECKS_HPP

#include "fuzz/input.hpp"
#include "redis/handshake.hpp"
#include "redis/replies.hpp"

#include <boost/redis/resp3/node.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::fuzz {

using boost::redis::resp3::node_view;
using parse_event = detail::reply_collector::event;

/// Calls `read` as the library is called while Boost.Redis parses, and returns what Boost.Redis
/// would be told of an exception.
template <class Read>
error_code failure_in(Read read) {
    try {
        read();
        return {};
    } catch (boost::system::system_error const&) {
        return detail::failure_while_parsing();
    }
}

/// Puts replies together, in another way than the library does too, and checks that both are the
/// same, and all that the library concludes from them.
class checked_collector {
public:
    error_code on_event(parse_event what, node_view const& node);

private:
    void check_same();

    detail::reply_collector collector_;
    std::vector<node_view> nodes_;
};

/// A connection's first request, and what it is to conclude from the answers.
class checked_probe {
public:
    explicit checked_probe(input& in);

    /// Whether it waits for another answer.
    [[nodiscard]] bool wants_more() const noexcept { return replies_ < probe_.commands(); }
    error_code on_event(parse_event what, node_view const& node);
    void check_verdict() const;

private:
    static config settings_from(input& in);

    config settings_;
    bool for_commands_;
    detail::handshake probe_;
    // Counts the replies in the same events.
    detail::reply_collector collector_;
    std::size_t replies_ = 0;
};

/// What the handshake sends with its PING: inputs can hold it.
inline constexpr std::string_view probe_nonce = "n0nce";

}  // namespace holdfast::fuzz

#endif
