#include "protocol/hand_over_message.hpp"

#include "protocol/names.hpp"
#include "protocol/target.hpp"

#include <charconv>
#include <utility>

namespace holdfast::detail {

namespace {

// The words of a text, one after the other.
class words {
public:
    explicit words(std::string_view text) : rest_{text} {}

    std::string_view next() {
        auto const end = rest_.find(' ');
        if (end == std::string_view::npos) {
            failed_ = true;
            return {};
        }
        auto const word = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return word;
    }
    std::int64_t number() {
        auto const word = next();
        std::int64_t value = 0;
        auto const [end, ec] = std::from_chars(word.data(), word.data() + word.size(), value);
        failed_ = failed_ || ec != std::errc{} || end != word.data() + word.size() || value <= 0;
        return value;
    }
    [[nodiscard]] std::string_view rest() const { return rest_; }
    [[nodiscard]] bool failed() const { return failed_; }

private:
    std::string_view rest_;
    bool failed_ = false;
};

std::optional<hand_over_message::kind> kind_of(std::string_view word) {
    using kind = hand_over_message::kind;
    constexpr std::pair<std::string_view, kind> names[] = {
        {"grant", kind::grant},
        {"next", kind::next},
        {"wait", kind::wait},
        {"look", kind::look},
    };
    for (auto const& [name, what] : names) {
        if (word == name) {
            return what;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<hand_over_message> read_hand_over_message(std::string_view text) {
    using kind = hand_over_message::kind;
    words in{text};
    auto const what = kind_of(in.next());
    if (!what || in.next() != "lock") {
        return std::nullopt;
    }
    hand_over_message message;
    message.what = *what;
    message.holder = in.next();
    if (what == kind::grant) {
        message.token = {static_cast<std::uint64_t>(in.number())};
        message.server_time = static_cast<std::uint64_t>(in.number());
    }
    if (what == kind::grant || what == kind::next) {
        // No window is longer than the longest lease.
        auto const window = in.number();
        constexpr std::int64_t longest = 86'400'000;
        if (window > longest) {
            return std::nullopt;
        }
        message.window = std::chrono::milliseconds{window};
    }
    message.lock = in.rest();
    if (in.failed() || message.holder.empty() || message.lock.empty()) {
        return std::nullopt;
    }
    return message;
}

std::string channel_of_client(std::string_view client_id) {
    std::string channel{beginning::client};
    channel += client_id;
    return channel;
}

// Its beginning is followed by what follows that of the lock's other keys: see embed.cmake.
std::string channel_of_client(std::string_view client_id, target const& on) {
    std::string channel{beginning::client};
    return channel.append(tag_of(on.lock)).append(":").append(client_id);
}

}  // namespace holdfast::detail
