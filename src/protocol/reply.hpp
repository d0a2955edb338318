#ifndef HOLDFAST_PROTOCOL_REPLY_HPP
#define HOLDFAST_PROTOCOL_REPLY_HPP

#include <holdfast/error.hpp>

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace holdfast::detail {

using reply_value = std::variant<std::int64_t, std::string>;

/// What a script returned, without the nonce. Access out of range or of the wrong type gives the
/// neutral value: a reply that does not look as expected must not stop the client.
struct script_reply {
    boost::container::small_vector<reply_value, 3> values;

    [[nodiscard]] std::int64_t integer(std::size_t i, std::int64_t otherwise = 0) const {
        auto const* value = i < values.size() ? std::get_if<std::int64_t>(&values[i]) : nullptr;
        return value ? *value : otherwise;
    }
    [[nodiscard]] std::string text(std::size_t i) const {
        auto const* value = i < values.size() ? std::get_if<std::string>(&values[i]) : nullptr;
        return value ? *value : std::string{};
    }
};

/// What is known about a request when it is over.
enum class exec_status {
    /// The script ran to its end; see the reply.
    replied,
    /// The server answered with an error and did nothing: the cause passes by itself.
    refused,
    /// The server answered with an error that somebody has to mend.
    failed,
    /// Never handed to a connection.
    not_sent,
    /// It may have been executed, or may be later.
    unknown,
};

struct exec_result {
    exec_status status = exec_status::unknown;
    /// The cause, unless replied.
    error_code error;
    script_reply reply;
    /// The server did not know the script, and got its text in a second request: what was sent
    /// after the first one may have been executed before this.
    bool sent_again = false;
};

}  // namespace holdfast::detail

#endif
