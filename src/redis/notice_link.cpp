#include "redis/notice_link.hpp"

#include "ops/counters.hpp"

#include <boost/asio/post.hpp>
#include <boost/redis/request.hpp>

#include <memory>
#include <utility>

namespace holdfast::detail {

notice_link::notice_link(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count,
    events to
)
    : supervisor{std::move(strand), std::move(settings), std::move(count), false},
      to_{std::move(to)} {}

void notice_link::subscribe(std::string channel) {
    auto const [at, added] = wanted_.try_emplace(std::move(channel));
    if (!added) {
        return;
    }
    count().subscriptions_now.add();
    at->second.generation = ++generation_;
    if (up()) {
        send(true, at->first, at->second.generation);
    }
}

void notice_link::unsubscribe(std::string_view channel) {
    auto const at = wanted_.find(channel);
    if (at == wanted_.end()) {
        return;
    }
    auto const name = at->first;
    wanted_.erase(at);
    count().subscriptions_now.subtract();
    if (up()) {
        send(false, name, 0);
    }
}

void notice_link::send(bool subscribe, std::string const& channel, std::uint64_t generation) {
    auto request = std::make_shared<boost::redis::request>();
    request->push(subscribe ? "SUBSCRIBE" : "UNSUBSCRIBE", channel);
    count().commands.add();
    unanswered_.push_back({subscribe, channel, generation});
    auto const connection = share_connection();
    // Completes when it is written; the confirmation comes as a push.
    connection->async_exec(
        *request,
        boost::redis::any_adapter{},
        [self = shared_from_this(), connection, request](error_code, std::size_t) {}
    );
}

void notice_link::on_up() {
    unanswered_.clear();
    for (auto& [channel, wanted] : wanted_) {
        wanted.generation = ++generation_;
        send(true, channel, wanted.generation);
    }
    to_.up();
}

void notice_link::on_down() {
    unanswered_.clear();
    to_.down();
}

void notice_link::on_failure(error_code cause) {
    to_.failure(cause);
}

// Called while Boost.Redis parses, so what follows from it happens in a turn of its own.
void notice_link::on_unsolicited(raw_reply& message) {
    asio::post(strand(), [self = shared_from_this(), this, message = std::move(message)] {
        if (stopped()) {
            return;
        }
        if (message.is_error) {
            on_refused(message.error);
            return;
        }
        auto const kind = message.content.text(0);
        if (kind == "message") {
            count().notices.add();
            to_.notice(message.content.text(1));
        } else if (kind == "subscribe" || kind == "unsubscribe") {
            on_confirmed(kind == "subscribe", message.content.text(1));
        }
    });
}

void notice_link::on_confirmed(bool subscribe, std::string const& channel) {
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
    if (!subscribe || at == wanted_.end() || at->second.generation != answered.generation) {
        return;
    }
    bool const again = std::exchange(at->second.was_confirmed, true);
    to_.subscribed(channel, again);
}

void notice_link::on_refused(std::string const& text) {
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
    if (at != wanted_.end() && at->second.generation == answered.generation) {
        wanted_.erase(at);
        count().subscriptions_now.subtract();
        to_.refused(answered.channel, cause.error);
    }
}

}  // namespace holdfast::detail
