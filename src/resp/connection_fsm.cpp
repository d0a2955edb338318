#include "resp/connection_fsm.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace holdfast::detail::resp {

namespace {

// Encoded at a time. What waits behind it can still be cancelled, and is sent with a later time.
constexpr std::size_t chunk = 64 * 1024;
constexpr std::size_t max_unsent = 1024 * 1024;
constexpr std::size_t kept_capacity = 64 * 1024;
constexpr std::chrono::seconds push_window{1};

bool is_message(std::string_view kind) noexcept {
    return kind == "message" || kind == "smessage";
}

bool is_confirmation(std::string_view kind) noexcept {
    return kind == "subscribe" || kind == "unsubscribe" || kind == "ssubscribe";
}

}  // namespace

std::string_view describe(close_reason why) noexcept {
    static constexpr std::array<std::string_view, 14> descriptions{
        "the connection is not closed",
        "closed by the client",
        "cannot connect",
        "connecting took too long",
        "the connection ended",
        "cannot send",
        "the server reads nothing",
        "too much waits to be sent",
        "no reply for two timeouts",
        "the peer does not speak RESP3",
        "a reply is too large",
        "a message is too large",
        "a reply does not belong to its request",
        "an exception was thrown",
    };
    return descriptions[static_cast<std::size_t>(why)];
}

connection_fsm::connection_fsm(connection_settings const& settings, connection_events& to)
    : settings_{settings},
      events_{to},
      decoder_{settings.handshake_limits},
      next_tag_{settings.first_tag} {}

void connection_fsm::on_connecting(time_point give_up_at) noexcept {
    state_ = state::connecting;
    connect_until_ = give_up_at;
    wake_by(give_up_at);
}

void connection_fsm::on_connected(bool exact, time_point now) {
    if (state_ != state::connecting) {
        return;
    }
    state_ = state::handshake;
    exact_ = exact;
    last_reply_ = now;
    events_.on_connected();
}

void connection_fsm::open(time_point now) {
    if (state_ != state::handshake) {
        return;
    }
    state_ = state::up;
    decoder_.set_limits(settings_.limits);
    wake_by(now + settings_.health_interval);
}

bool connection_fsm::submit(std::shared_ptr<request> what, time_point now) {
    bool const allowed =
        state_ == state::up || (state_ == state::handshake && what->opens_connection_);
    if (!allowed || queued_.size() + handed_.size() >= settings_.max_requests) {
        return false;
    }
    auto& r = *what;
    queued_.push_back(std::move(what));
    r.phase_ = request::phase::queued;
    r.deadline_ = now + r.timeout_;
    wake_by(r.deadline_);
    return true;
}

request_end connection_fsm::cancel(request& what) noexcept {
    auto const was = std::exchange(what.phase_, request::phase::ended);
    return was == request::phase::queued ? request_end::not_sent : request_end::unknown;
}

std::string_view connection_fsm::to_write(time_point now) {
    if (!running() || blocked_) {
        return {};
    }
    if (taken_ == output_.size()) {
        output_begin_ += output_.size();
        output_.clear();
        taken_ = 0;
        if (output_.capacity() > kept_capacity) {
            byte_buffer{}.swap(output_);
        }
        encode_queued(now);
    }
    return {output_.data() + taken_, output_.size() - taken_};
}

void connection_fsm::encode_queued(time_point now) {
    while (!queued_.empty() && output_.size() < chunk) {
        auto& r = *queued_.front();
        if (r.pending()) {
            auto const script = r.script();
            r.by_text_ = r.by_text_ || (!script.empty() && scripts_.insert(script).second);
            r.tag_ = next_tag_++;
            bool const first = r.sent_at_ == time_point{};
            r.sent_at_ = now;
            if (first) {
                r.deadline_ = now + r.timeout_;
            }
            handed_.push_back(queued_.front());
            r.runs_at_ = output_begin_ + r.encode(output_);
            r.phase_ = request::phase::handed;
        }
        queued_.pop_front();
    }
}

void connection_fsm::on_written(std::size_t taken, bool blocked, time_point now) {
    taken_ += taken;
    if (blocked) {
        blocked_ = true;
        if (taken != 0 || blocked_since_ == time_point{}) {
            blocked_since_ = now;
            wake_by(now + settings_.timeout);
        }
        if (output_.size() - taken_ > max_unsent) {
            close(close_reason::too_much_unsent);
        }
    } else {
        blocked_since_ = {};
    }
}

void connection_fsm::on_read(std::size_t size, time_point now) {
    input_.commit(size);
    while (running()) {
        auto const data = input_.data();
        auto const status = decoder_.resume(data);
        if (status == decode_status::incomplete) {
            return;
        }
        if (status != decode_status::complete) {
            close(
                status == decode_status::malformed ? close_reason::malformed
                : decoder_.in_push()               ? close_reason::push_too_large
                                                   : close_reason::too_large
            );
            return;
        }
        auto const received = decoder_.current(data);
        auto const received_size = decoder_.message_size();
        if (received.type() == node_type::push) {
            on_push(received, received_size, now);
        } else {
            auto const fits =
                handed_.empty() ? verdict::mismatch : handed_.front()->judge(received);
            settle(fits, received, now);
        }
        input_.consume(received_size);
        decoder_.next();
    }
}

void connection_fsm::on_push(message const& push, std::size_t size, time_point now) {
    auto const kind = push.text(1);
    if (is_confirmation(kind)) {
        bool const expected = push.is_text(2) && !handed_.empty();
        settle(
            expected ? handed_.front()->judge(kind, push.text(2)) : verdict::mismatch,
            push,
            now
        );
        return;
    }
    bool const unsubscribed = kind == "sunsubscribe";
    if (!unsubscribed && !is_message(kind)) {
        ++unknown_pushes_;
        return;
    }
    if (!push.is_text(2) || (!unsubscribed && !push.is_text(3))) {
        close(close_reason::malformed);
        return;
    }
    if (unsubscribed) {
        for (auto const& one : handed_) {
            one->on_sunsubscribe(push.text(2));
        }
    }
    count_push(size, now);
    events_.on_push(push);
}

void connection_fsm::count_push(std::size_t size, time_point now) {
    if (now - push_second_ >= push_window) {
        push_second_ = now;
        pushed_ = 0;
    }
    bool const below = pushed_ <= settings_.push_limit;
    pushed_ += size;
    if (below && pushed_ > settings_.push_limit) {
        events_.on_push_flood();
    }
}

void connection_fsm::settle(verdict what, message const& reply, time_point now) {
    if (what == verdict::mismatch) {
        close(close_reason::mismatch);
        return;
    }
    last_reply_ = now;
    if (what == verdict::more) {
        return;
    }
    auto const answered = std::move(handed_.front());
    handed_.pop_front();
    auto& r = *answered;
    if (!r.pending()) {
        return;
    }
    if (what == verdict::no_script && !r.by_text_ && r.may_repeat()) {
        // Behind what was sent meanwhile.
        r.by_text_ = true;
        r.phase_ = request::phase::queued;
        queued_.push_back(answered);
        return;
    }
    bool const replied = what == verdict::replied;
    end(r, replied ? request_end::replied : request_end::refused, &reply);
}

void connection_fsm::end(request& what, request_end how, message const* reply) {
    what.phase_ = request::phase::ended;
    what.on_end(how, reply);
}

void connection_fsm::on_time(time_point now) {
    wake_at_ = time_point::max();
    if (state_ == state::connecting || state_ == state::handshake) {
        if (now >= connect_until_) {
            close(close_reason::connect_timeout);
            return;
        }
        wake_by(connect_until_);
    }
    if (running()) {
        end_overdue(now);
    }
    if (running()) {
        check_life(now);
    }
}

void connection_fsm::end_overdue(time_point now) {
    std::vector<std::shared_ptr<request>> overdue;
    for (auto const* const all : {&handed_, &queued_}) {
        for (auto const& one : *all) {
            if (one->pending() && one->deadline_ <= now) {
                overdue.push_back(one);
            } else if (one->pending()) {
                wake_by(one->deadline_);
            }
        }
    }
    for (auto const& one : overdue) {
        if (one->pending()) {
            bool const queued = one->phase_ == request::phase::queued;
            end(*one, queued ? request_end::not_sent : request_end::unknown);
        }
    }
}

void connection_fsm::check_life(time_point now) {
    if (blocked_) {
        if (now - blocked_since_ >= settings_.timeout) {
            close(close_reason::write_blocked);
            return;
        }
        wake_by(blocked_since_ + settings_.timeout);
    }
    if (!handed_.empty()) {
        auto const& head = *handed_.front();
        auto const silent_at = std::max(head.sent_at_, last_reply_) + 2 * head.timeout_;
        if (silent_at <= now) {
            close(close_reason::silent);
            return;
        }
        wake_by(silent_at);
    }
    if (state_ == state::up) {
        bool const due = last_reply_ + settings_.health_interval <= now;
        if (due && idle()) {
            static_cast<void>(submit(std::make_shared<ping_request>(settings_.timeout), now));
        }
        wake_by((due ? now : last_reply_) + settings_.health_interval);
    }
}

void connection_fsm::close(close_reason why, error_code cause) noexcept {
    if (state_ != state::closing && state_ != state::closed) {
        state_ = state::closing;
        why_ = why;
        cause_ = cause;
    }
}

void connection_fsm::finish() {
    if (std::exchange(state_, state::closed) == state::closed) {
        return;
    }
    wake_at_ = time_point::max();
    auto const handed = std::exchange(handed_, {});
    auto const queued = std::exchange(queued_, {});
    auto const accepted = output_begin_ + taken_;
    for (auto const* const all : {&handed, &queued}) {
        for (auto const& one : *all) {
            if (one->pending()) {
                // An incomplete command never runs.
                bool const not_sent =
                    one->phase_ == request::phase::queued || (exact_ && one->runs_at_ > accepted);
                end(*one, not_sent ? request_end::not_sent : request_end::unknown);
            }
        }
    }
    events_.on_down(why_, cause_);
}

}  // namespace holdfast::detail::resp
