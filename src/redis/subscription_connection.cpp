#include "redis/subscription_connection.hpp"

#include "core/lease_terms.hpp"
#include "protocol/slot.hpp"
#include "redis/cluster_observer.hpp"
#include "runtime/counters.hpp"

#include <boost/asio/post.hpp>
#include <boost/redis/request.hpp>

#include <utility>

namespace holdfast::detail {

namespace {

// Boost.Redis 1.92 counts a reply to each command but those that it knows to have none, and it does
// not know those of sharded channels: every later reply would be taken for another command's. So
// the command is written behind one that it knows. Nobody listens to that one's channel: it has no
// effect. Valkey says so with an error where nothing is subscribed to yet, which answers nothing.
struct behind_unsubscribe {
    std::string_view command;
    std::string_view channel;
};

void add_bulk(std::string& to, std::string_view text) {
    to.append("$").append(std::to_string(text.size())).append("\r\n");
    to.append(text).append("\r\n");
}

// Found by Boost.Redis when it writes the argument.
void boost_redis_to_bulk(std::string& to, behind_unsubscribe const& what) {
    add_bulk(to, "holdfast_nobody");
    to.append("*2\r\n");
    add_bulk(to, what.command);
    add_bulk(to, what.channel);
}

void push_sharded(boost::redis::request& to, std::string_view command, std::string_view channel) {
    to.push("UNSUBSCRIBE", behind_unsubscribe{command, channel});
}

}  // namespace

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
    auto const at = wanted_.find(channel);
    bool const served = at != wanted_.end() && at->second != not_served;
    if (at != wanted_.end()) {
        wanted_.erase(at);
    }
    count().subscriptions_now.subtract();
    if (served && up() && !stopped()) {
        send(false, channel, 0);
    }
}

void subscription_connection::send(
    bool subscribe,
    std::string const& channel,
    std::uint64_t generation
) {
    auto request = std::make_shared<boost::redis::request>();
    if (sharded()) {
        push_sharded(*request, subscribe ? "SSUBSCRIBE" : "SUNSUBSCRIBE", channel);
    } else {
        request->push(subscribe ? "SUBSCRIBE" : "UNSUBSCRIBE", channel);
    }
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

// Called while Boost.Redis parses. A grant is dealt with there: its window runs. What answers a
// request ends or makes subscriptions, and has a turn of its own. What comes behind it waits.
void subscription_connection::on_unsolicited(raw_reply& message) {
    if (waiting_answers_ == 0 && is_notification(message)) {
        on_notification(message);
        return;
    }
    asio::post(strand(), [self = shared_from_this(), this, message = std::move(message)] {
        --waiting_answers_;
        if (stopped()) {
            return;
        }
        if (message.is_error) {
            on_refusal(message.error);
        } else if (is_notification(message)) {
            on_notification(message);
        } else {
            on_answer(message);
        }
    });
    ++waiting_answers_;
}

bool subscription_connection::is_notification(raw_reply const& message) const noexcept {
    return !message.is_error && message.text(0) == (sharded() ? "smessage" : "message");
}

void subscription_connection::on_notification(raw_reply const& message) {
    count().notifications.add();
    channels_->on_notification(message.text(1), message.text(2));
}

void subscription_connection::on_answer(raw_reply const& message) {
    auto const kind = message.text(0);
    auto const channel = message.text(1);
    bool const subscribes = kind == (sharded() ? "ssubscribe" : "subscribe");
    if (!subscribes && kind != (sharded() ? "sunsubscribe" : "unsubscribe")) {
        return;
    }
    bool const asked = !unanswered_.empty() && !unanswered_.front().subscribe &&
                       unanswered_.front().channel == channel;
    if (sharded() && !subscribes && !asked) {
        on_withdrawn(channel);
    } else {
        on_confirmation(subscribes, channel);
    }
}

// The slot of the channel has moved.
void subscription_connection::on_withdrawn(std::string_view channel) {
    auto const at = wanted_.find(channel);
    if (at == wanted_.end()) {
        return;
    }
    at->second = not_served;
    channels_->on_unconfirmed(channel);
    if (auto const observer = cluster()) {
        observer->on_channel_moved(number(), channel, nullptr);
    }
}

// The channel's slot is another node's. A request whose channel was withdrawn meanwhile has been
// answered by that: the error says for which slot it is.
bool subscription_connection::on_moved(std::string const& text) {
    auto const observer = cluster();
    auto const where = observer ? read_redirection(text) : std::nullopt;
    if (!where) {
        return false;
    }
    if (unanswered_.empty() || slot_of(unanswered_.front().channel) != where->slot) {
        return true;
    }
    auto const answered = std::move(unanswered_.front());
    unanswered_.pop_front();
    auto const at = wanted_.find(answered.channel);
    if (answered.subscribe && at != wanted_.end() && at->second == answered.generation) {
        at->second = not_served;
        observer->on_channel_moved(number(), answered.channel, &*where);
    }
    return true;
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
    if (on_moved(text) || (sharded() && text.starts_with("NOSUB 'unsubscribe'"))) {
        return;
    }
    if (unanswered_.empty()) {
        drop_epoch("an error that answers nothing");
        return;
    }
    auto const answered = std::move(unanswered_.front());
    unanswered_.pop_front();
    if (!answered.subscribe) {
        return;  // Valkey: there was nothing to unsubscribe from
    }
    auto const cause = classify(text);
    report_refusal("a subscription", answered.channel, text, true);
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
