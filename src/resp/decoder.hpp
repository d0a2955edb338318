#ifndef HOLDFAST_RESP_DECODER_HPP
#define HOLDFAST_RESP_DECODER_HPP

#include "resp/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::detail::resp {

/// The largest messages that a connection accepts. A message beyond a limit ends the connection.
struct decoder_limits {
    std::size_t line = 64 * 1024;           ///< bytes, without the type and the end of the line
    std::size_t bulk = 1024 * 1024;         ///< bytes of one string
    std::size_t message = 4 * 1024 * 1024;  ///< bytes on the wire
    std::size_t elements = 64 * 1024;       ///< values of a message, attributes included

    /// For a peer that has not proven yet that it is a Redis server.
    [[nodiscard]] static constexpr decoder_limits before_hello() noexcept {
        return {64 * 1024, 64 * 1024, 64 * 1024, 4 * 1024};
    }
};

enum class decode_status : std::uint8_t {
    incomplete,
    complete,
    malformed,  ///< not RESP3 as Redis speaks it
    too_large,  ///< beyond a limit
};

/// Decodes RESP3, one message at a time, from bytes that come in any pieces.
///
/// Each byte is looked at three times at most, in whatever pieces the bytes come. Memory grows with
/// what has come, never with a number that the peer announced. After a fault the decoder stays
/// faulty: the bytes behind a fault have no meaning.
class decoder {
public:
    /// Deepest nesting. The map of modules in HELLO's reply needs four.
    static constexpr std::size_t max_depth = 8;

    explicit decoder(decoder_limits limits) noexcept : limits_{limits} {}

    /// In force from the next message on.
    void set_limits(decoder_limits limits) noexcept { limits_ = limits; }

    /// Goes on with a message. `data` begins where the message begins, and has all of its bytes
    /// that have come; it may be somewhere else than before.
    [[nodiscard]] decode_status resume(std::string_view data);
    /// The bytes of the complete message.
    [[nodiscard]] std::size_t message_size() const noexcept { return at_; }
    /// The complete message, which begins at `data`.
    [[nodiscard]] message current(std::string_view data) const noexcept {
        return {nodes_, data.data()};
    }
    /// What has come of the message so far belongs to a push.
    [[nodiscard]] bool in_push() const noexcept {
        return !nodes_.empty() && nodes_.front().type == node_type::push;
    }
    /// Forgets the complete message: another one begins behind it.
    void next();

    /// Bytes looked at since the decoder was made.
    [[nodiscard]] std::uint64_t scanned() const noexcept { return scanned_; }

private:
    struct frame {
        std::uint32_t left;  // elements that have not come
        bool is_attribute;
    };

    // Each does one step. False: it needs more bytes, the message is complete, or it is faulty.
    bool read_line(std::string_view data);
    bool read_bulk(std::string_view data);

    bool on_line(char type, std::string_view line);
    bool on_bulk(char type, std::size_t size);
    bool on_aggregate(char type, std::size_t count);
    bool add(node_type type, std::size_t offset, std::size_t size);
    /// A value that may be the last one of those around it has come.
    bool add_last(node_type type, std::size_t offset, std::size_t size);
    void end_value() noexcept;
    bool fail(decode_status why) noexcept {
        status_ = why;
        return false;
    }

    decoder_limits limits_;
    decode_status status_ = decode_status::incomplete;
    std::vector<node> nodes_;
    std::array<frame, max_depth> stack_{};
    std::size_t depth_ = 0;
    std::size_t attributes_ = 0;       // that are open
    std::size_t elements_ = 1;         // announced so far
    std::size_t at_ = 0;               // where the next value begins
    std::size_t line_scanned_to_ = 0;  // there is no end of the line before
    std::size_t bulk_size_ = 0;
    std::size_t line_begin_ = 0;
    char bulk_type_ = 0;  // of the string whose bytes are awaited; 0: none is
    bool push_has_kind_ = true;
    std::uint64_t scanned_ = 0;
};

}  // namespace holdfast::detail::resp

#endif
