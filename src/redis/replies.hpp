#ifndef HOLDFAST_REDIS_REPLIES_HPP
#define HOLDFAST_REDIS_REPLIES_HPP

#include "protocol/reply.hpp"

#include <holdfast/error.hpp>

#include <boost/container/small_vector.hpp>
#include <boost/redis/adapter/any_adapter.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::detail {

/// What a server's error reply means for the request.
struct server_error {
    enum class effect {
        /// Not executed; passes by itself.
        transient,
        /// Not executed: the script is not known there. The one error after which the same request
        /// is sent again blindly.
        no_script,
        /// Not executed: another node of a cluster has the keys. See `redirection`.
        redirected,
        /// Not executed, and will not be until somebody mends the cause.
        permanent,
        /// A script may have got half way.
        uncertain,
    };
    effect what = effect::uncertain;
    error_code error;
    /// The connection is to the wrong server by now: a replica.
    bool wrong_role = false;
    /// Of one that is transient: the keys of the request are on two nodes at the moment, because
    /// their slot is being moved.
    bool apart = false;
    /// Of one that is transient: the cluster does not serve the slot.
    bool cluster_down = false;
};

/// Which node of a cluster has the keys of a request: MOVED or ASK.
struct redirection {
    /// Only this request is to be sent there, behind ASKING: the slot is being moved.
    bool ask = false;
    std::uint16_t slot = 0;
    /// Empty: the host is that of the node which says so.
    std::string host;
    std::uint16_t port = 0;
};
/// Nothing if the text of the error is not one.
[[nodiscard]] std::optional<redirection> read_redirection(std::string_view text);

/// Classifies the text of an error reply, in the form of Redis 7 (code first) and in that of Redis
/// 6, which wraps what a script's command said.
[[nodiscard]] server_error classify(std::string_view text);

/// What is known of a request that was answered with such an error.
[[nodiscard]] exec_status status_of(server_error::effect what) noexcept;

/// What may be logged of an error reply: a server that does not know a command repeats its
/// arguments, a password among them.
[[nodiscard]] std::string loggable(std::string_view text);

using reply_value = std::variant<std::int64_t, std::string>;

/// One whole reply: an error, or its values without any nesting.
struct raw_reply {
    bool is_error = false;
    bool is_push = false;
    std::string error;
    boost::container::small_vector<reply_value, 3> values;

    /// Nothing if there is no such value, or it is a number.
    [[nodiscard]] std::string_view text(std::size_t i) const noexcept {
        auto const* value = i < values.size() ? std::get_if<std::string>(&values[i]) : nullptr;
        return value ? std::string_view{*value} : std::string_view{};
    }
};

/// The reply to a script or to a check: one text, or an error.
struct text_reply {
    /// `from` is taken from. Anything but one text is empty.
    [[nodiscard]] static text_reply of(raw_reply& from);

    std::string text;
    bool is_error = false;
};

/// Puts replies together from the parser's events.
class reply_collector {
public:
    using event = boost::redis::any_adapter::parse_event;

    /// True when `current()` is complete.
    ///
    /// @throws boost::system::system_error for what no reply of a Redis server has. The connection
    /// has to end there: the parser of Boost.Redis 1.92 writes beyond its memory if it goes on
    /// behind a streamed string.
    bool on_event(event what, boost::redis::resp3::node_view const& node);
    [[nodiscard]] raw_reply& current() noexcept { return current_; }

private:
    void add(reply_value value, std::size_t size);

    raw_reply current_;
    std::size_t size_ = 0;
};

/// What Boost.Redis is told of the exception at hand: none may leave its parser half way.
[[nodiscard]] error_code failure_while_parsing() noexcept;

}  // namespace holdfast::detail

#endif
