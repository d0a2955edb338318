#include "expected_replies.hpp"

#include "resp.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

// "subscribe", "punsubscribe" and the like.
bool is_subscription(std::string_view word) {
    return word.ends_with("subscribe");
}

// The first word of a push: ">3\r\n$9\r\nsubscribe\r\n...".
std::string_view push_kind(std::string_view message) {
    constexpr std::string_view line_end = "\r\n";
    for (int line = 0; line < 2; ++line) {
        auto const end = message.find(line_end);
        if (end == std::string_view::npos) {
            return {};
        }
        message.remove_prefix(end + line_end.size());
    }
    return message.substr(0, message.find(line_end));
}

}  // namespace

bool is_push(std::string_view message) {
    return message.starts_with('>');
}

std::vector<std::string> words_of_command(std::string_view message) {
    std::vector<std::string> words;
    try {
        auto rest = message;
        auto const command = parse_message(rest);
        for (auto const& element : command.as_array()) {
            words.push_back(element.as_string());
        }
    } catch (std::runtime_error const&) {
        words.clear();
    }
    if (words.empty()) {
        words.emplace_back(message);
    }
    return words;
}

void expected_replies::command_sent(std::vector<std::string> words, reply_fate fate) {
    auto const name = lower(words.front());
    resp3_ = resp3_ || (name == "hello" && words.size() > 1 && words[1] == "3");
    if (resp3_ && is_subscription(name)) {
        auto const count = std::max<std::size_t>(words.size() - 1, 1);
        confirmations_.insert(confirmations_.end(), count, {std::move(words), fate});
    } else {
        replies_.push_back({std::move(words), fate});
    }
}

expected_reply expected_replies::message_came(std::string_view message) {
    if (is_push(message) && !is_subscription(push_kind(message))) {
        return {};
    }
    auto& expected = is_push(message) ? confirmations_ : replies_;
    if (expected.empty()) {
        return {};
    }
    auto reply = std::move(expected.front());
    expected.pop_front();
    return reply;
}

}  // namespace holdfast::test
