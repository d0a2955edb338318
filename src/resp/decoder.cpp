#include "resp/decoder.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::detail::resp {

namespace {

constexpr std::size_t max_digits = 20;
// A reply that needed more, the slots of a large cluster, is rare.
constexpr std::size_t kept_nodes = 1024;
// The type, and the end of the line.
constexpr std::size_t line_frame = 3;
constexpr std::string_view types = "+-:$*_,#!=(%~|>";
// What a verbatim string begins with: its format and a colon.
constexpr std::size_t format_size = 4;

std::optional<std::size_t> read_length(std::string_view digits) noexcept {
    std::size_t value = 0;
    auto const* const end = digits.data() + digits.size();
    auto const [at, ec] = std::from_chars(digits.data(), end, value);
    bool const whole = ec == std::errc{} && at == end && digits.size() <= max_digits;
    return whole ? std::optional{value} : std::nullopt;
}

bool is_number(std::string_view line) noexcept {
    return line.size() <= max_digits && number_in(line);
}

node_type aggregate_of(char type) noexcept {
    switch (type) {
        case '%': return node_type::map;
        case '~': return node_type::set;
        case '>': return node_type::push;
        default: return node_type::array;
    }
}

}  // namespace

decode_status decoder::resume(std::string_view data) {
    while (status_ == decode_status::incomplete) {
        if (bulk_type_ != 0 ? !read_bulk(data) : !read_line(data)) {
            break;
        }
    }
    return status_;
}

void decoder::next() {
    nodes_.clear();
    if (nodes_.capacity() > kept_nodes) {
        nodes_.shrink_to_fit();
    }
    elements_ = 1;
    at_ = 0;
    line_scanned_to_ = 0;
    status_ = decode_status::incomplete;
}

// What is found out is the same whether the line comes in one piece or in several: its type is
// checked with its first byte, its length before its contents.
bool decoder::read_line(std::string_view data) {
    if (line_scanned_to_ == at_) {
        if (at_ == data.size()) {
            return false;
        }
        ++scanned_;
        if (types.find(data[at_]) == types.npos) {
            return fail(decode_status::malformed);
        }
        ++line_scanned_to_;
    }
    auto const found = data.find('\n', line_scanned_to_);
    bool const whole = found != data.npos;
    auto const end = (whole ? found : data.size()) + 1;
    scanned_ += std::min(end, data.size()) - line_scanned_to_;
    line_scanned_to_ = std::min(end, data.size());
    if (end - at_ > limits_.line + line_frame || end > limits_.message) {
        return fail(decode_status::too_large);
    }
    if (!whole) {
        return false;
    }
    auto line = data.substr(at_ + 1, found - at_ - 1);
    scanned_ += line.size();
    if (line.empty() || line.find('\r') != line.size() - 1) {
        return fail(decode_status::malformed);
    }
    line.remove_suffix(1);
    char const type = data[at_];
    line_begin_ = at_ + 1;
    at_ = end;
    line_scanned_to_ = end;
    return on_line(type, line);
}

bool decoder::on_line(char type, std::string_view line) {
    scanned_ += line.size();
    auto const scalar = [&](bool valid, node_type what) {
        return valid ? add_last(what, line_begin_, line.size()) : fail(decode_status::malformed);
    };
    switch (type) {
        case '+': return scalar(true, node_type::text);
        case '-': return scalar(true, node_type::error);
        case ':': return scalar(is_number(line), node_type::number);
        case ',': return scalar(!line.empty(), node_type::real);
        case '(': return scalar(!line.empty(), node_type::big_number);
        case '#': return scalar(line == "t" || line == "f", node_type::boolean);
        case '_': return scalar(line.empty(), node_type::null);
        case '$':
        case '*':
            if (line == "-1") {
                return add_last(node_type::null, line_begin_, 0);
            }
            break;
        default: break;
    }
    auto const size = read_length(line);
    if (!size) {
        return fail(decode_status::malformed);
    }
    bool const is_bulk = type == '$' || type == '=' || type == '!';
    return is_bulk ? on_bulk(type, *size) : on_aggregate(type, *size);
}

bool decoder::on_bulk(char type, std::size_t size) {
    if (type == '=' && size < format_size) {
        return fail(decode_status::malformed);
    }
    if (size > limits_.bulk || at_ + size + 2 > limits_.message) {
        return fail(decode_status::too_large);
    }
    bulk_type_ = type;
    bulk_size_ = size;
    return true;
}

bool decoder::read_bulk(std::string_view data) {
    auto const end = at_ + bulk_size_;
    if (data.size() < end + 2) {
        return false;
    }
    scanned_ += 2;
    auto const type = std::exchange(bulk_type_, '\0');
    auto const format = type == '=' ? format_size : 0;
    if (data.substr(end, 2) != "\r\n" || (format != 0 && data[at_ + format - 1] != ':')) {
        return fail(decode_status::malformed);
    }
    auto const begin = at_ + format;
    at_ = end + 2;
    line_scanned_to_ = at_;
    return add_last(type == '!' ? node_type::error : node_type::text, begin, end - begin);
}

bool decoder::on_aggregate(char type, std::size_t count) {
    if (type == '>' && (depth_ != 0 || count == 0)) {
        return fail(decode_status::malformed);
    }
    bool const is_attribute = type == '|';
    auto const size = is_attribute || type == '%' ? 2 * count : count;
    elements_ += size + (is_attribute ? 1 : 0);
    if (count > limits_.elements || elements_ > limits_.elements || depth_ == max_depth) {
        return fail(decode_status::too_large);
    }
    if (!is_attribute && !add(aggregate_of(type), line_begin_, size)) {
        return false;
    }
    if (size != 0) {
        push_has_kind_ = push_has_kind_ && type != '>';
        attributes_ += is_attribute ? 1 : 0;
        stack_[depth_++] = {static_cast<std::uint32_t>(size), is_attribute};
    } else if (!is_attribute) {
        end_value();
    }
    return true;
}

bool decoder::add(node_type type, std::size_t offset, std::size_t size) {
    if (attributes_ != 0) {
        return true;
    }
    if (!push_has_kind_) {
        if (type != node_type::text) {
            return fail(decode_status::malformed);
        }
        push_has_kind_ = true;
    }
    nodes_.push_back(
        {type,
         static_cast<std::uint8_t>(depth_),
         static_cast<std::uint32_t>(offset),
         static_cast<std::uint32_t>(size)}
    );
    return true;
}

bool decoder::add_last(node_type type, std::size_t offset, std::size_t size) {
    if (!add(type, offset, size)) {
        return false;
    }
    end_value();
    return true;
}

void decoder::end_value() noexcept {
    while (depth_ != 0) {
        auto& around = stack_[depth_ - 1];
        if (--around.left != 0) {
            return;
        }
        --depth_;
        if (around.is_attribute) {
            --attributes_;
            return;  // it is no element of what is around it
        }
    }
    status_ = decode_status::complete;
}

}  // namespace holdfast::detail::resp
