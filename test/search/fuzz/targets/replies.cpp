// What a server may send, from its bytes to what is concluded from them: Boost.Redis' parser, the
// replies that are put together from its events, and the handshake of a connection. However the
// bytes are cut into pieces, the replies are the same.

#include "redis/replies.hpp"

#include "fuzz/input.hpp"
#include "fuzz/reply_checks.hpp"
#include "fuzz/targets.hpp"

#include <boost/asio/error.hpp>
#include <boost/redis/resp3/parser.hpp>
#include <boost/redis/resp3/type.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::fuzz {

namespace {

using boost::redis::resp3::parser;
using boost::redis::resp3::type;

// What the parser of Boost.Redis 1.92 does not survive, so that a server can only be trusted not to
// send it:
// - a text or error without a length, as in "$\r\n": it throws in a function that is `noexcept`;
// - a length that is less than two below 2^64: it overflows, and the text is whatever was read;
// - the end of a streamed string, ";0", that has not begun: it counts below the start of an array.
bool breaks_the_parser(std::string_view line, bool begins_message) {
    auto const kind = boost::redis::resp3::to_type(line.front());
    bool const part = kind == type::streamed_string_part;
    if (!part && kind != type::blob_string && kind != type::blob_error &&
        kind != type::verbatim_string) {
        return false;
    }
    auto const text = line.substr(1, line.find("\r\n") - 1);
    std::size_t length = 0;
    auto const [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (wrong != std::errc{}) {
        return text.empty() && !part;
    }
    return length > std::numeric_limits<std::size_t>::max() - 2 ||
           (part && begins_message && length == 0);
}

// Reads as Boost.Redis does (`resp3::parse`, `multiplexer::consume`), up to what it does not
// survive.
class reader {
public:
    using sink = std::function<void(parse_event, node_view const&, error_code&)>;

    explicit reader(sink to) : to_{std::move(to)} {}

    // `unread` is what follows the last whole message. Returns how much of it the messages take
    // that are whole by now.
    std::size_t read(std::string_view unread) {
        std::size_t done = 0;
        while (!ended_ && done < unread.size() && read_message(unread.substr(done))) {
            done += parser_.get_consumed();
            parser_.reset();
            text_expected_ = false;
        }
        return done;
    }

    [[nodiscard]] bool ended() const noexcept { return ended_; }

private:
    bool read_message(std::string_view unread) {
        error_code failed;
        if (!parser_.is_parsing()) {
            to_(parse_event::init, {}, failed);
        }
        while (!parser_.done()) {
            auto const before = parser_.get_consumed();
            auto const rest = unread.substr(before);
            if (!text_expected_ && rest.find("\r\n") != std::string_view::npos &&
                breaks_the_parser(rest, before == 0)) {
                ended_ = true;
                return false;
            }
            auto const node = parser_.consume(unread, failed);
            if (!failed && !node) {
                text_expected_ = text_expected_ || parser_.get_consumed() != before;
                return false;
            }
            text_expected_ = false;
            if (!failed) {
                to_(parse_event::node, *node, failed);
            }
            if (failed) {
                ended_ = true;
                return false;
            }
        }
        to_(parse_event::done, {}, failed);
        return true;
    }

    sink to_;
    parser parser_;
    // The length of a text has been read, and the text has not.
    bool text_expected_ = false;
    bool ended_ = false;
};

// Pieces of at most `size` bytes. Each time the bytes lie elsewhere, as in a buffer that grows: who
// keeps a view of them is found out.
void feed(std::string_view bytes, std::size_t size, reader& to) {
    std::size_t done = 0;
    for (std::size_t end = 0; end < bytes.size() && !to.ended();) {
        end = std::min(bytes.size(), end + size);
        std::vector<char> const buffer(
            bytes.begin() + static_cast<std::ptrdiff_t>(done),
            bytes.begin() + static_cast<std::ptrdiff_t>(end)
        );
        done += to.read({buffer.data(), buffer.size()});
    }
}

std::vector<detail::raw_reply> replies_of(std::string_view bytes, std::size_t size) {
    std::vector<detail::raw_reply> replies;
    detail::reply_collector collector;
    reader one{[&](parse_event what, node_view const& node, error_code& failed) {
        failed = failure_in([&] {
            if (collector.on_event(what, node)) {
                replies.push_back(std::move(collector.current()));
            }
        });
    }};
    feed(bytes, size, one);
    return replies;
}

void check_whole(std::string_view bytes) {
    checked_collector collector;
    reader one{[&](parse_event what, node_view const& node, error_code& failed) {
        failed = collector.on_event(what, node);
    }};
    feed(bytes, bytes.size(), one);
}

void check_probe(checked_probe& handshake, std::string_view bytes) {
    bool refused = false;
    reader one{[&](parse_event what, node_view const& node, error_code& failed) {
        if (!handshake.wants_more()) {
            // What comes next is for another reader.
            failed = boost::asio::error::operation_aborted;
            return;
        }
        failed = handshake.on_event(what, node);
        refused = failed.failed();
    }};
    feed(bytes, bytes.size(), one);
    if (!refused) {
        handshake.check_verdict();
    }
}

void check_same_in_pieces(std::string_view bytes, std::size_t size) {
    auto const whole = replies_of(bytes, bytes.size());
    auto const pieces = replies_of(bytes, size);
    bool const same = std::equal(
        whole.begin(),
        whole.end(),
        pieces.begin(),
        pieces.end(),
        [](detail::raw_reply const& a, detail::raw_reply const& b) {
            return a.is_error == b.is_error && a.is_push == b.is_push && a.error == b.error &&
                   a.values == b.values;
        }
    );
    check(same, "replies do not depend on how their bytes arrive");
}

}  // namespace

void replies(bytes data) {
    input in{data};
    checked_probe handshake{in};
    auto const size = in.number<std::uint8_t>();
    auto const wire = in.rest();
    if (wire.empty()) {
        return;
    }
    check_whole(wire);
    // Not so small that long inputs take long.
    check_same_in_pieces(wire, std::max<std::size_t>(size, 1 + wire.size() / 64));
    check_probe(handshake, wire);
}

}  // namespace holdfast::fuzz
