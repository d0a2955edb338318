#include "support/foreign/subscriptions.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

foreign_subscriptions::foreign_subscriptions(
    asio::any_io_executor executor,
    foreign_server const& where,
    int most_kept,
    message_handler on_message
)
    : most_kept_{most_kept},
      on_message_{std::move(on_message)},
      connection_{std::move(executor), where, [this](redis_value const& message) {
                      this->on_message(message);
                  }} {}

foreign_channel& foreign_subscriptions::join(std::string const& name) {
    auto const [at, is_new] = channels_.try_emplace(
        name,
        foreign_channel{.name = name, .messages = wake_ups{most_kept_}}
    );
    auto& channel = at->second;
    if (channel.users++ == 0) {
        ++channel.unanswered;
        connection_.send({"SUBSCRIBE", name});
    }
    return channel;
}

void foreign_subscriptions::leave(foreign_channel& channel) {
    if (--channel.users == 0) {
        channel.confirmed = false;
        channel.messages.forget();
        connection_.send({"UNSUBSCRIBE", channel.name});
    }
}

asio::awaitable<void> foreign_subscriptions::confirmed(foreign_channel& channel) {
    while (!channel.confirmed) {
        if (!refusal_.empty()) {
            throw std::runtime_error{"a foreign client was refused: " + refusal_};
        }
        co_await channel.confirmation.take();
    }
}

void foreign_subscriptions::on_message(redis_value const& message) {
    using kind = redis_value::kind;
    if (message.is_error()) {
        refuse(message.text);
        return;
    }
    if (message.type != kind::array || message.elements.size() != 3) {
        return;  // the reply to AUTH
    }
    auto const& what = message.elements[0].as_string();
    auto const at = channels_.find(message.elements[1].as_string());
    if (at == channels_.end()) {
        return;
    }
    auto& channel = at->second;
    if (what == "subscribe") {
        // The confirmation of a former subscription counts for nothing.
        if (--channel.unanswered == 0 && channel.users > 0) {
            channel.confirmed = true;
            channel.confirmation.give_all();
        }
    } else if (what == "message" && channel.confirmed) {
        on_message_(channel, message.elements[2].as_string());
    }
}

void foreign_subscriptions::refuse(std::string const& why) {
    refusal_ = why;
    for (auto& [name, channel] : channels_) {
        channel.confirmation.give_all();
    }
}

void foreign_subscriptions::close() {
    connection_.close();
    refuse("it was closed");
    for (auto& [name, channel] : channels_) {
        channel.messages.give_all();
    }
}

}  // namespace holdfast::test
