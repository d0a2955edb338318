#include "redis/subscription_connection.hpp"

#include "core/lease_terms.hpp"
#include "runtime/counters.hpp"

#include <boost/asio/post.hpp>
#include <boost/redis/request.hpp>

#include <utility>

namespace holdfast::detail {

subscription_connection::subscription_connection(server_context of, events to)
    : supervisor{std::move(of), connection_id::purpose::subscriptions, std::move(to)},
      channels_{std::make_shared<channels>(channels::actions{
          .subscribe = [this](std::string const& channel) { on_wanted(channel); },
          .unsubscribe = [this](std::string const& channel) { on_unwanted(channel); },
          .later =
              [this](std::function<void()> f) {
                  asio::post(strand(), [self = shared_from_this(), f = std::move(f)] { f(); });
              },
      })},
      timeout_{strand()} {}

subscription subscription_connection::subscribe(std::string channel, subscriber& to) {
    return channels_->add(std::move(channel), to);
}

void subscription_connection::stop() {
    supervisor::stop();
    timeout_.cancel();
    channels_->stop();
}

void subscription_connection::on_wanted(std::string const& channel) {
    auto const at = wanted_.insert_or_assign(channel, ++generation_).first;
    count().subscriptions_now.add();
    if (up()) {
        send(true, at->first, at->second);
    }
}

void subscription_connection::on_unwanted(std::string const& channel) {
    wanted_.erase(channel);
    count().subscriptions_now.subtract();
    if (up() && !stopped()) {
        send(false, channel, 0);
    }
}

void subscription_connection::send(
    bool subscribe,
    std::string const& channel,
    std::uint64_t generation
) {
    auto request = std::make_shared<boost::redis::request>();
    request->push(subscribe ? "SUBSCRIBE" : "UNSUBSCRIBE", channel);
    count().commands.add();
    unanswered_.push_back({subscribe, channel, generation, lease_clock::now()});
    arm_timeout();
    auto const connection = share_connection();
    // Completes when it is written; the confirmation comes as a push.
    connection->async_exec(
        *request,
        boost::redis::any_adapter{},
        [self = shared_from_this(), connection, request](error_code, std::size_t) {}
    );
}

// A waiter counts on the confirmation: what is not answered is asked for on a new connection.
void subscription_connection::arm_timeout() {
    if (armed_ || unanswered_.empty() || stopped()) {
        return;
    }
    auto const limit = 2 * request_timeout_for(settings(), settings().lease);
    sleep_until(timeout_, unanswered_.front().sent_at + limit);
    timeout_.async_wait([self = shared_from_this(), this](error_code ec) {
        armed_ = false;
        if (!ec && !stopped()) {
            on_timeout();
        }
    });
    armed_ = true;
}

void subscription_connection::on_timeout() {
    auto const limit = 2 * request_timeout_for(settings(), settings().lease);
    if (!unanswered_.empty() && unanswered_.front().sent_at + limit <= lease_clock::now()) {
        unanswered_.clear();
        drop_epoch("a subscription was not answered");
        return;
    }
    arm_timeout();
}

void subscription_connection::on_up() {
    unanswered_.clear();
    for (auto& [channel, generation] : wanted_) {
        generation = ++generation_;
        send(true, channel, generation);
    }
}

void subscription_connection::on_down() {
    unanswered_.clear();
    channels_->on_down();
}

// Called while Boost.Redis parses, so what follows from it happens in a turn of its own.
void subscription_connection::on_unsolicited(raw_reply& message) {
    asio::post(strand(), [self = shared_from_this(), this, message = std::move(message)] {
        if (stopped()) {
            return;
        }
        if (message.is_error) {
            on_refusal(message.error);
            return;
        }
        auto const kind = message.text(0);
        if (kind == "message") {
            count().notifications.add();
            channels_->on_notification(message.text(1), message.text(2));
        } else if (kind == "subscribe" || kind == "unsubscribe") {
            on_confirmation(kind == "subscribe", message.text(1));
        }
    });
}

void subscription_connection::on_confirmation(bool subscribe, std::string_view channel) {
    if (unanswered_.empty()) {
        return;
    }
    auto const answered = std::move(unanswered_.front());
    unanswered_.pop_front();
    if (answered.subscribe != subscribe || answered.channel != channel) {
        drop_epoch("a confirmation does not belong to its request");
        return;
    }
    on_proven();
    auto const at = wanted_.find(channel);
    if (subscribe && at != wanted_.end() && at->second == answered.generation) {
        channels_->on_confirmed(channel);
    }
}

void subscription_connection::on_refusal(std::string const& text) {
    if (unanswered_.empty()) {
        drop_epoch("an error that answers nothing");
        return;
    }
    auto const answered = std::move(unanswered_.front());
    unanswered_.pop_front();
    if (!answered.subscribe) {
        return;  // Valkey: there was nothing to unsubscribe from
    }
    log(log_level::error, "the server refused a subscription: " + loggable(text));
    auto const cause = classify(text);
    if (cause.what != server_error::effect::permanent) {
        drop_epoch("a subscription failed");
        return;
    }
    auto const at = wanted_.find(answered.channel);
    if (at != wanted_.end() && at->second == answered.generation) {
        wanted_.erase(at);
        count().subscriptions_now.subtract();
        channels_->on_refused(answered.channel, cause.error);
    }
}

}  // namespace holdfast::detail
