#ifndef HOLDFAST_TEST_SUPPORT_FAKE_CONNECTION_HPP
#define HOLDFAST_TEST_SUPPORT_FAKE_CONNECTION_HPP

#include "fake_port.hpp"
#include "ops/counters.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace asio = boost::asio;
using detail::exec_handler;
using detail::exec_result;
using detail::exec_status;

// Both connections of one client. Everything under the server's mutex; handlers and events run on
// the strand, in turns of their own.
class fake_connection : public std::enable_shared_from_this<fake_connection> {
public:
    fake_connection(
        std::shared_ptr<fake_server> server,
        asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    )
        : server_{std::move(server)},
          strand_{std::move(strand)},
          count_{std::move(count)} {}

    // What the port is asked.

    void start(detail::port_events& events) {
        std::lock_guard const guard{server_->mutex_};
        events_ = &events;
        server_->connections_.push_back(weak_from_this());
        update();
    }

    void stop() {
        std::lock_guard const guard{server_->mutex_};
        events_ = nullptr;
        commands_up_ = notices_up_ = told_commands_up_ = told_notices_up_ = false;
        subscribed_.clear();
        unanswered_.clear();
        lose_all();
        abandon_lost();
    }

    // The strand's context may be gone after this.
    void close() {
        std::list<std::shared_ptr<record>> dropped;
        {
            std::lock_guard const guard{server_->mutex_};
            events_ = nullptr;
            commands_up_ = notices_up_ = told_commands_up_ = told_notices_up_ = false;
            subscribed_.clear();
            unanswered_.clear();
            lose_all();
            dropped.swap(lost_);
            strand_ = {};
        }
        for (auto const& r : dropped) {
            r->timeout.reset();
            r->handler = nullptr;
        }
    }

    void exec(
        detail::script const& what,
        boost::span<std::string_view const> keys,
        boost::span<std::string_view const> args,
        std::chrono::nanoseconds timeout,
        exec_handler handler
    ) {
        std::lock_guard const guard{server_->mutex_};
        auto r = std::make_shared<record>();
        r->script = what.name;
        r->keys.assign(keys.begin(), keys.end());
        r->args.assign(args.begin(), args.end());
        r->handler = std::move(handler);
        if (!told_commands_up_) {
            answer(*r, {exec_status::not_sent, failure_, {}});
            return;
        }
        count_->commands.add();
        ++server_->tallies_[r->script].arrived;
        r->timeout.emplace(strand_, timeout);
        r->timeout->async_wait([self = shared_from_this(), r](error_code ec) {
            if (!ec) {
                std::lock_guard const hold{self->server_->mutex_};
                self->answer(*r, {exec_status::unknown, errc::unreachable, {}});
            }
        });
        (commands_up_ ? in_flight_ : lost_).push_back(std::move(r));
        pump();
    }

    void subscribe(std::string channel) {
        std::lock_guard const guard{server_->mutex_};
        auto const [at, added] = wanted_.try_emplace(std::move(channel));
        if (!added) {
            return;
        }
        count_->subscriptions_now.add();
        send_subscribe(at->first, at->second);
        pump();
    }

    void unsubscribe(std::string_view channel) {
        std::lock_guard const guard{server_->mutex_};
        auto const at = wanted_.find(channel);
        if (at == wanted_.end()) {
            return;
        }
        count_->subscriptions_now.subtract();
        if (notices_up_) {
            count_->commands.add();
            unanswered_.push_back({false, at->first, 0});
        }
        wanted_.erase(at);
        pump();
    }

    bool commands_up() const {
        std::lock_guard const guard{server_->mutex_};
        return told_commands_up_;
    }
    bool notices_up() const {
        std::lock_guard const guard{server_->mutex_};
        return told_notices_up_;
    }
    error_code failure() const {
        std::lock_guard const guard{server_->mutex_};
        return failure_;
    }

    // What the server does. Under its mutex.

    std::set<std::string> const& subscribed() const { return subscribed_; }

    void notify(std::string const& channel) {
        if (!events_ || !subscribed_.contains(channel)) {
            return;
        }
        count_->notices.add();
        tell([channel](detail::port_events& events) { events.on_notice(channel); });
    }

    // Follows the server's state of the connections.
    void update() {
        if (!events_) {
            return;
        }
        if (server_->failure_ && failure_ != server_->failure_) {
            failure_ = server_->failure_;
            tell([cause = failure_](detail::port_events& events) { events.on_failure(cause); });
        }
        if (commands_up_ != server_->commands_up_) {
            commands_up_ = server_->commands_up_;
            if (commands_up_) {
                failure_ = {};
                if (std::exchange(was_up_, true)) {
                    count_->reconnects.add();
                }
                tell(
                    [](detail::port_events& events) { events.on_commands_up(); },
                    [](fake_connection& self) { self.told_commands_up_ = true; }
                );
            } else {
                lose_all();
                tell(
                    [](detail::port_events& events) { events.on_commands_down(); },
                    [](fake_connection& self) { self.told_commands_up_ = false; },
                    [](fake_connection& self) { self.abandon_lost(); }
                );
            }
        }
        if (notices_up_ != server_->notices_up_) {
            notices_up_ = server_->notices_up_;
            subscribed_.clear();
            unanswered_.clear();
            if (notices_up_) {
                for (auto& [channel, wanted] : wanted_) {
                    send_subscribe(channel, wanted);
                }
                tell(
                    [](detail::port_events& events) { events.on_notices_up(); },
                    [](fake_connection& self) { self.told_notices_up_ = true; }
                );
            } else {
                tell(
                    [](detail::port_events& events) { events.on_notices_down(); },
                    [](fake_connection& self) { self.told_notices_up_ = false; }
                );
            }
        }
        pump();
    }

    // Goes on as far as the gates allow.
    void pump() {
        auto at = in_flight_.begin();
        while (commands_up_ && at != in_flight_.end()) {
            auto const r = *at;
            if (!r->result && !server_->requests_held_) {
                carry_out(*r);
            }
            if (!r->result) {
                break;
            }
            ++at;
        }
        while (commands_up_ && !server_->replies_held_ && !in_flight_.empty() &&
               in_flight_.front()->result) {
            auto const r = std::move(in_flight_.front());
            in_flight_.pop_front();
            if (r->dropped) {
                unheard_.push_back(r);
            } else {
                answer(*r, std::move(*r->result));
            }
        }
        while (notices_up_ && !server_->confirmations_held_ && !unanswered_.empty()) {
            auto const next = std::move(unanswered_.front());
            unanswered_.pop_front();
            confirm(next);
        }
    }

private:
    struct record {
        std::string script;
        std::vector<std::string> keys;
        std::vector<std::string> args;
        exec_handler handler;
        std::optional<exec_result> result;
        bool dropped = false;
        std::optional<asio::steady_timer> timeout;
    };
    struct subscription {
        std::uint64_t generation = 0;
        bool was_confirmed = false;
    };
    struct sent {
        bool subscribe;
        std::string channel;
        std::uint64_t generation;
    };

    static void nothing(fake_connection&) {}

    // Calls `what` with the events in a turn of its own; `first` and `then` in the same turn, under
    // the mutex.
    template <
        class Tell,
        class First = void (*)(fake_connection&),
        class Then = void (*)(fake_connection&)>
    void tell(Tell what, First first = &nothing, Then then = &nothing) {
        asio::post(strand_, [self = shared_from_this(), what = std::move(what), first, then] {
            detail::port_events* events = nullptr;
            {
                std::lock_guard const guard{self->server_->mutex_};
                events = self->events_;
                if (!events) {
                    return;
                }
                first(*self);
            }
            what(*events);
            std::lock_guard const guard{self->server_->mutex_};
            then(*self);
        });
    }

    void answer(record& r, exec_result result) {
        r.timeout.reset();
        if (!r.handler) {
            return;
        }
        asio::post(
            strand_,
            [handler = std::exchange(r.handler, {}), result = std::move(result)]() mutable {
                std::move(handler)(std::move(result));
            }
        );
    }

    void lose_all() {
        lost_.splice(lost_.end(), in_flight_);
        lost_.splice(lost_.end(), unheard_);
    }

    void abandon_lost() {
        for (auto const& r : std::exchange(lost_, {})) {
            answer(*r, {exec_status::unknown, errc::unreachable, {}});
        }
    }

    void carry_out(record& r) {
        if (auto refusal = server_->refused(r.script)) {
            r.result = std::move(refusal);
            return;
        }
        ++server_->tallies_[r.script].executed;
        r.result = server_->execute(r.script, r.keys, r.args);
        r.dropped = server_->takes_drop(r.script);
    }

    void send_subscribe(std::string const& channel, subscription& wanted) {
        wanted.generation = ++generation_;
        if (notices_up_) {
            count_->commands.add();
            unanswered_.push_back({true, channel, wanted.generation});
        }
    }

    void confirm(sent const& next) {
        auto const& channel = next.channel;
        if (!next.subscribe) {
            subscribed_.erase(channel);
            return;
        }
        if (auto const cause = server_->subscription_refusal_) {
            auto const refused = wanted_.find(channel);
            if (refused == wanted_.end() || refused->second.generation != next.generation) {
                return;
            }
            wanted_.erase(refused);
            count_->subscriptions_now.subtract();
            tell([channel, cause](detail::port_events& events) {
                events.on_subscribe_refused(channel, cause);
            });
            return;
        }
        subscribed_.insert(channel);
        auto const at = wanted_.find(channel);
        if (at == wanted_.end() || at->second.generation != next.generation) {
            return;
        }
        bool const again = std::exchange(at->second.was_confirmed, true);
        tell([channel, again](detail::port_events& events) { events.on_subscribed(channel, again); }
        );
    }

    std::shared_ptr<fake_server> server_;
    asio::any_io_executor strand_;
    std::shared_ptr<detail::counters> count_;
    detail::port_events* events_ = nullptr;
    std::list<std::shared_ptr<record>> in_flight_;
    std::list<std::shared_ptr<record>> unheard_;  // executed, and never to be answered in time
    std::list<std::shared_ptr<record>> lost_;     // with their connection
    std::map<std::string, subscription, std::less<>> wanted_;
    std::set<std::string> subscribed_;
    std::deque<sent> unanswered_;
    std::uint64_t generation_ = 0;
    error_code failure_;
    // What the server says, and what the client has been told.
    bool commands_up_ = false;
    bool notices_up_ = false;
    bool told_commands_up_ = false;
    bool told_notices_up_ = false;
    bool was_up_ = false;
};

}  // namespace holdfast::test

#endif
