#include "memory_server/connection.hpp"

#include <boost/asio/post.hpp>

#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::memory {

using detail::exec_result;
using detail::exec_status;

namespace {

exec_result unknown() {
    return {exec_status::unknown, errc::unreachable, {}};
}

}  // namespace

connection::connection(
    std::shared_ptr<server> to,
    asio::any_io_executor strand,
    std::shared_ptr<detail::counters> count
)
    : server_{std::move(to)},
      strand_{std::move(strand)},
      count_{std::move(count)},
      channels_{std::make_shared<detail::channels>(detail::channels::actions{
          .subscribe = [this](std::string const& channel) { on_wanted(channel); },
          .unsubscribe = [this](std::string const& channel) { on_unwanted(channel); },
          .later = [this](std::function<void()> f) { asio::post(strand_, std::move(f)); },
      })} {}

// What the backend is asked

void connection::start(detail::backend_events& events) {
    std::lock_guard const guard{server_->mutex_};
    events_ = &events;
    server_->connections_.push_back(weak_from_this());
    if (!server_->commands_up_) {
        report_down();
    }
    update();
}

void connection::report_down() {
    tell([](auto& events) {
        events.on_unconnected({}, errc::unreachable, "the server in memory is down");
    });
}

// Nothing is told any more; what was in flight is put aside.
void connection::forget() {
    events_ = nullptr;
    commands_ = subscriptions_ = {};
    unanswered_.clear();
    if (session_ != 0) {
        server_->model_.disconnect(std::exchange(session_, 0));
    }
    lose_all();
}

void connection::stop() {
    {
        std::lock_guard const guard{server_->mutex_};
        forget();
        answer_lost();
    }
    channels_->stop();
}

void connection::close() {
    requests dropped;
    {
        std::lock_guard const guard{server_->mutex_};
        forget();
        dropped.swap(lost_);
    }
    channels_->stop();
    for (auto const& one : dropped) {
        one->timeout.reset();
        one->handler = nullptr;
    }
    strand_ = {};
}

void connection::exec(detail::call&& what, detail::exec_handler&& handler) {
    std::lock_guard const guard{server_->mutex_};
    auto const timeout = what.timeout();
    auto one = std::make_shared<request>(request{std::move(what), std::move(handler)});
    if (!commands_.told_up) {
        auto const cause = failure_ ? failure_ : error_code{errc::unreachable};
        answer(*one, {exec_status::not_sent, cause, {}});
        return;
    }
    count_->commands.add();
    ++server_->tallies_[std::string{one->what.what().name}].arrived;
    one->timeout.emplace(strand_);
    one->timeout->expires_after(timeout);
    one->timeout->async_wait([self = shared_from_this(), one](error_code ec) {
        if (!ec) {
            std::lock_guard const hold{self->server_->mutex_};
            self->answer(*one, unknown());
        }
    });
    (commands_.up ? in_flight_ : lost_).push_back(std::move(one));
    pump();
}

void connection::exec_replicated(
    detail::call&& what,
    detail::replication const& wanted,
    detail::replicated_handler&& handler
) {
    exec(
        std::move(what),
        [self = shared_from_this(), timeout = wanted.timeout, handler = std::move(handler)](
            exec_result result
        ) mutable { self->wait_for_replicas(timeout, std::move(result), std::move(handler)); }
    );
}

// There are none.
void connection::wait_for_replicas(
    std::chrono::nanoseconds timeout,
    exec_result result,
    detail::replicated_handler handler
) {
    if (result.status != exec_status::replied) {
        std::move(handler)(std::move(result), 0U);
        return;
    }
    auto const wait = std::make_shared<detail::timer>(strand_);
    wait->expires_after(timeout);
    wait->async_wait([wait, result = std::move(result), handler = std::move(handler)](error_code ec
                     ) mutable {
        if (!ec) {
            std::move(handler)(std::move(result), 0U);
        }
    });
}

detail::subscription connection::subscribe(std::string channel, detail::subscriber& to) {
    return channels_->add(std::move(channel), to);
}

void connection::on_wanted(std::string const& channel) {
    std::lock_guard const guard{server_->mutex_};
    auto const at = wanted_.insert_or_assign(channel, ++generation_).first;
    count_->subscriptions_now.add();
    send(true, channel, at->second);
    pump();
}

void connection::on_unwanted(std::string const& channel) {
    std::lock_guard const guard{server_->mutex_};
    wanted_.erase(channel);
    count_->subscriptions_now.subtract();
    send(false, channel, 0);
    pump();
}

bool connection::up(purpose what) const {
    std::lock_guard const guard{server_->mutex_};
    return of(what).told_up;
}

detail::backend::obstacle connection::why_down() const {
    std::lock_guard const guard{server_->mutex_};
    if (failure_) {
        return {failure_, true};
    }
    bool const down = !server_->commands_up_ || !server_->subscriptions_up_;
    return {down ? error_code{errc::unreachable} : error_code{}, false};
}

// What the server does

void connection::tell(std::function<void(detail::backend_events&)> what) {
    asio::post(strand_, [self = shared_from_this(), what = std::move(what)] {
        detail::backend_events* events = nullptr;
        {
            std::lock_guard const guard{self->server_->mutex_};
            events = self->events_;
        }
        if (events) {
            what(*events);
        }
    });
}

void connection::update() {
    if (!events_) {
        return;
    }
    auto const& to = *server_;
    if (to.failure_ && failure_ != to.failure_) {
        failure_ = to.failure_;
        tell([cause = failure_](auto& events) { events.on_failure({}, cause); });
    }
    for (auto const what : {purpose::commands, purpose::subscriptions}) {
        bool const is_up = what == purpose::commands ? to.commands_up_ : to.subscriptions_up_;
        if (is_up != of(what).up) {
            of(what).up = is_up;
            is_up ? come_up(what) : go_down(what);
        }
    }
    pump();
}

void connection::come_up(purpose what) {
    auto& one = of(what);
    failure_ = {};
    if (++one.epoch > 1 && what == purpose::commands) {
        count_->reconnects.add();
    }
    tell([this, what, epoch = one.epoch, run_id = server_->run_id_, began = server_->began_](
             auto& events
         ) {
        {
            std::lock_guard const guard{server_->mutex_};
            of(what).told_up = true;
        }
        if (what == purpose::commands) {
            run_id_ = run_id;
            began_by_ = began;
        }
        events.on_up({what, 0, epoch});
    });
    if (what == purpose::subscriptions) {
        listen();
        for (auto& [channel, generation] : wanted_) {
            generation = ++generation_;
            send(true, channel, generation);
        }
    }
}

void connection::go_down(purpose what) {
    if (what == purpose::commands) {
        lose_all();
    } else {
        unanswered_.clear();
        server_->model_.disconnect(std::exchange(session_, 0));
    }
    tell([this, what, epoch = of(what).epoch](auto& events) {
        {
            std::lock_guard const guard{server_->mutex_};
            of(what).told_up = false;
        }
        if (what == purpose::subscriptions) {
            channels_->on_down();
        }
        events.on_down({what, 0, epoch});
        std::lock_guard const guard{server_->mutex_};
        answer_lost();
    });
    if (what == purpose::commands) {
        report_down();
    }
}

// A new session of the server, whose messages are told.
void connection::listen() {
    session_ = server_->model_.connect([weak = weak_from_this()](value message) {
        auto const self = weak.lock();
        if (self && message.elements.at(0).text == "message") {
            self->count_->notifications.add();
            self->tell([raw = self.get(),
                        channel = message.elements.at(1).text,
                        text = message.elements.at(2).text](auto&) {
                raw->channels_->on_notification(channel, text);
            });
        }
    });
    server_->model_.execute(session_, {"HELLO", "3"});
}

void connection::pump() {
    for (auto const& one : in_flight_) {
        if (!one->result && !server_->requests_held_) {
            carry_out(*one);
        }
        if (!one->result) {
            break;
        }
    }
    while (!server_->replies_held_ && !in_flight_.empty() && in_flight_.front()->result) {
        auto const one = std::move(in_flight_.front());
        in_flight_.pop_front();
        if (one->dropped) {
            unheard_.push_back(one);
        } else {
            answer(*one, std::move(*one->result));
        }
    }
    while (subscriptions_.up && !server_->confirmations_held_ && !unanswered_.empty()) {
        auto const next = std::move(unanswered_.front());
        unanswered_.pop_front();
        confirm(next);
    }
}

void connection::carry_out(request& one) {
    auto const& what = one.what;
    if (auto refused = server_->refused(what.what().name)) {
        one.result = std::move(refused);
        return;
    }
    ++server_->tallies_[std::string{what.what().name}].executed;
    one.result = server_->execute(what);
    one.dropped = server_->takes_drop(what.what().name);
}

void connection::answer(request& one, exec_result result) {
    one.timeout.reset();
    if (one.handler) {
        asio::post(
            strand_,
            [handler = std::exchange(one.handler, {}), result = std::move(result)]() mutable {
                std::move(handler)(std::move(result));
            }
        );
    }
}

void connection::lose_all() {
    lost_.splice(lost_.end(), in_flight_);
    lost_.splice(lost_.end(), unheard_);
}

void connection::answer_lost() {
    for (auto const& one : std::exchange(lost_, {})) {
        answer(*one, unknown());
    }
}

// Subscriptions

void connection::send(bool subscribe, std::string const& channel, std::uint64_t generation) {
    if (subscriptions_.up) {
        count_->commands.add();
        unanswered_.push_back({subscribe, channel, generation});
    }
}

bool connection::wants(sent const& what) const {
    auto const at = wanted_.find(what.channel);
    return at != wanted_.end() && at->second == what.generation;
}

void connection::confirm(sent const& next) {
    if (!next.subscribe) {
        server_->model_.execute(session_, {"UNSUBSCRIBE", next.channel});
        return;
    }
    server_->model_.execute(session_, {"SUBSCRIBE", next.channel});
    tell([this, next](auto&) {
        {
            std::lock_guard const guard{server_->mutex_};
            if (!wants(next)) {
                return;
            }
        }
        channels_->on_confirmed(next.channel);
    });
}

}  // namespace holdfast::memory
