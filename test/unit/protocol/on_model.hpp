#ifndef HOLDFAST_TEST_UNIT_PROTOCOL_ON_MODEL_HPP
#define HOLDFAST_TEST_UNIT_PROTOCOL_ON_MODEL_HPP

#include "protocol/call.hpp"
#include "protocol/reply.hpp"
#include "unit/memory_server/asking.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A server in memory that runs the calls of a protocol, and one who listens to a channel.
struct on_model : memory::asking {
    explicit on_model(std::string_view channel) {
        auto const listener =
            server.connect([this](memory::value one) { messages_.push_back(std::move(one)); });
        server.execute(listener, {"SUBSCRIBE", channel});
        messages_.clear();
    }

    /// The reply; empty after an error, which `error` has then.
    detail::script_reply run(detail::call const& what) {
        auto const keys = std::to_string(what.keys());
        std::vector<std::string_view> words{"EVAL", what.what().text, keys};
        for (std::size_t i = 0; i < what.size(); ++i) {
            words.push_back(what.word(i));
        }
        words.emplace_back("nonce");
        auto const reply = server.execute(session, words).value();
        error = reply.is_error() ? reply.text : "";
        return detail::script_reply{reply.is_error() ? "" : reply.text};
    }
    std::string error;

    /// What was published since the last time.
    std::string heard() {
        std::string all;
        for (auto const& one : messages_) {
            all += (all.empty() ? "" : " ") + one.elements.at(2).text;
        }
        messages_.clear();
        return all;
    }
    void later(std::chrono::microseconds time) { server.set_time(server.time() + time.count()); }
    /// `-` if there is none.
    std::string value_of(std::string_view key) {
        auto const found = ask({"GET", key});
        return found.is_nil() ? "-" : found.text;
    }

private:
    std::vector<memory::value> messages_;
};

}  // namespace holdfast::test

#endif
