#include "resp/request.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace holdfast::detail::resp {

namespace {

class tag_text {
public:
    explicit tag_text(char prefix, std::uint32_t tag) noexcept {
        text_[0] = prefix;
        end_ = std::to_chars(text_.data() + 1, text_.data() + text_.size(), tag).ptr;
    }
    [[nodiscard]] std::string_view digits() const noexcept { return all().substr(1); }
    [[nodiscard]] std::string_view all() const noexcept {
        return {text_.data(), static_cast<std::size_t>(end_ - text_.data())};
    }

private:
    std::array<char, 11> text_;  // the prefix and ten digits
    char* end_;
};

// Of the fence behind SUNSUBSCRIBE.
constexpr char fence_prefix = 'u';

bool has_code(std::string_view error, std::string_view code) noexcept {
    return error.substr(0, error.find(' ')) == code;
}

}  // namespace

std::size_t command_request::encode(byte_buffer& to) const {
    to.insert(to.end(), command_.begin(), command_.end());
    return to.size();
}

request::verdict command_request::judge(message const& reply) {
    return reply.is_error() ? verdict::refused : verdict::replied;
}

std::size_t script_request::encode(byte_buffer& to) const {
    append_script(to, call(), by_text(), tag());
    return to.size();
}

request::verdict script_request::judge(message const& reply) {
    auto const text = reply.text();
    if (reply.is_error()) {
        return has_code(text, "NOSCRIPT") ? verdict::no_script : verdict::refused;
    }
    bool const ours =
        reply.is_text(0) && text.substr(0, text.find(' ')) == tag_text{' ', tag()}.digits();
    return ours ? verdict::replied : verdict::mismatch;
}

std::size_t ping_request::encode(byte_buffer& to) const {
    append_command(to, {"PING", tag_text{' ', tag()}.digits()});
    return to.size();
}

request::verdict ping_request::judge(message const& reply) {
    if (reply.is_error()) {
        return verdict::refused;
    }
    bool const ours = reply.is_text(0) && reply.text() == tag_text{' ', tag()}.digits();
    return ours ? verdict::replied : verdict::mismatch;
}

std::size_t channel_request::encode(byte_buffer& to) const {
    static constexpr std::array<std::string_view, 3> verbs{
        "SUBSCRIBE",
        "UNSUBSCRIBE",
        "SSUBSCRIBE"
    };
    append_command(to, {verbs[static_cast<std::size_t>(verb_)], channel_});
    return to.size();
}

request::verdict channel_request::judge(message const& reply) {
    return reply.is_error() ? verdict::refused : verdict::mismatch;
}

request::verdict channel_request::judge(std::string_view kind, std::string_view channel) {
    static constexpr std::array<std::string_view, 3> kinds{
        "subscribe",
        "unsubscribe",
        "ssubscribe"
    };
    bool const ours = kind == kinds[static_cast<std::size_t>(verb_)] && channel == channel_;
    return ours ? verdict::replied : verdict::mismatch;
}

std::size_t sunsubscribe_request::encode(byte_buffer& to) const {
    append_command(to, {"SUNSUBSCRIBE", channel_});
    auto const runs_at = to.size();
    append_command(to, {"ECHO", tag_text{fence_prefix, tag()}.all()});
    return runs_at;
}

// ECHO gets no error that sends it to another node. Any other error is the one of SUNSUBSCRIBE if
// nothing has answered that yet. What this judges wrongly does not fit the requests behind it.
request::verdict sunsubscribe_request::judge(message const& reply) {
    auto const text = reply.text();
    if (!reply.is_error()) {
        bool const ours = reply.is_text(0) && text == tag_text{fence_prefix, tag()}.all();
        return ours ? verdict::replied : verdict::mismatch;
    }
    bool const about_channel =
        has_code(text, "MOVED") || has_code(text, "CLUSTERDOWN") || has_code(text, "NOSUB");
    if (!refused_ && (about_channel || !unsubscribed_)) {
        refused_ = true;
        return verdict::more;
    }
    return verdict::refused;
}

void sunsubscribe_request::on_sunsubscribe(std::string_view channel) {
    unsubscribed_ = unsubscribed_ || channel == channel_;
}

}  // namespace holdfast::detail::resp
