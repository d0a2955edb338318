#ifndef HOLDFAST_RESP_MESSAGE_HPP
#define HOLDFAST_RESP_MESSAGE_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

namespace holdfast::detail::resp {

/// What a value of RESP3 is. Simple strings, bulk strings and verbatim strings are `text`; both
/// kinds of errors are `error`.
enum class node_type : std::uint8_t {
    text,
    error,
    number,
    real,
    big_number,
    boolean,
    null,
    array,
    map,
    set,
    push,
};

[[nodiscard]] constexpr bool is_aggregate(node_type type) noexcept {
    return type >= node_type::array;
}

/// One value of a message. The values of a message stand in the order of the wire: an aggregate
/// before its elements.
struct node {
    node_type type = node_type::null;
    /// Zero: the message itself.
    std::uint8_t depth = 0;
    /// Where the text begins, counted from the first byte of the message.
    std::uint32_t offset = 0;
    /// The bytes of the text. Of an aggregate the number of its elements; a pair of a map is two.
    std::uint32_t size = 0;

    friend bool operator==(node const&, node const&) = default;
};

/// The number that a line has, with one sign at most.
[[nodiscard]] inline std::optional<std::int64_t> number_in(std::string_view line) noexcept {
    bool const has_plus = line.starts_with('+');
    if (has_plus && line.substr(1).starts_with('-')) {
        return {};
    }
    std::int64_t value = 0;
    auto const* const end = line.data() + line.size();
    auto const [at, ec] = std::from_chars(line.data() + (has_plus ? 1 : 0), end, value);
    return ec == std::errc{} && at == end ? std::optional{value} : std::nullopt;
}

/// A whole reply or push. It is a view into the connection's buffers.
class message {
public:
    message(std::span<node const> nodes, char const* begin) noexcept
        : nodes_{nodes},
          begin_{begin} {}

    [[nodiscard]] node_type type() const noexcept { return nodes_.front().type; }
    [[nodiscard]] bool is_error() const noexcept { return type() == node_type::error; }
    [[nodiscard]] std::span<node const> nodes() const noexcept { return nodes_; }
    /// The text of a value as the wire has it, also of an error or a number. Empty if there is no
    /// such value, or it is an aggregate.
    [[nodiscard]] std::string_view text(std::size_t i = 0) const noexcept {
        if (i >= nodes_.size() || is_aggregate(nodes_[i].type)) {
            return {};
        }
        return {begin_ + nodes_[i].offset, nodes_[i].size};
    }
    [[nodiscard]] bool is_text(std::size_t i) const noexcept {
        return i < nodes_.size() && nodes_[i].type == node_type::text;
    }
    [[nodiscard]] std::optional<std::int64_t> number(std::size_t i = 0) const noexcept {
        if (i >= nodes_.size() || nodes_[i].type != node_type::number) {
            return {};
        }
        return number_in(text(i));
    }

private:
    std::span<node const> nodes_;
    char const* begin_;
};

}  // namespace holdfast::detail::resp

#endif
