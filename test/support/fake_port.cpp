#include "fake_port.hpp"

#include "ops/counters.hpp"
#include "redis/scripts.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <deque>
#include <list>
#include <regex>
#include <tuple>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;
using detail::exec_handler;
using detail::exec_result;
using detail::exec_status;
using detail::reply_value;
using std::chrono::milliseconds;

namespace {

exec_result replied(std::initializer_list<reply_value> values) {
    exec_result result{exec_status::replied, {}, {}};
    result.reply.values.assign(values.begin(), values.end());
    return result;
}

exec_result wrong_type() {
    return {exec_status::failed, errc::corrupt_state, {}};
}

// `<id>:<number>`, or Redisson's longer form for other kinds of its locks; never a write lock's.
bool is_holder(std::string const& field) {
    static std::regex const shape{"[^]+:-?[0-9]+|[0-9a-f]+(-[0-9a-f]+){4}:-?[0-9]+:[^]+"};
    return std::regex_match(field, shape) && !field.ends_with(":write");
}

template <class Map>
bool only_holders(Map const& fields) {
    return std::all_of(fields.begin(), fields.end(), [](auto const& field) {
        return is_holder(field.first);
    });
}

}  // namespace

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

namespace {

class fake_port final : public detail::redis_port {
public:
    explicit fake_port(std::shared_ptr<fake_connection> connection)
        : connection_{std::move(connection)} {}
    ~fake_port() override { connection_->close(); }

    void start(detail::port_events& events) override { connection_->start(events); }
    void stop() override { connection_->stop(); }
    void exec(
        detail::script const& what,
        boost::span<std::string_view const> keys,
        boost::span<std::string_view const> args,
        std::chrono::nanoseconds timeout,
        exec_handler handler
    ) override {
        connection_->exec(what, keys, args, timeout, std::move(handler));
    }
    void subscribe(std::string channel) override { connection_->subscribe(std::move(channel)); }
    void unsubscribe(std::string_view channel) override { connection_->unsubscribe(channel); }
    bool commands_up() const override { return connection_->commands_up(); }
    bool notices_up() const override { return connection_->notices_up(); }
    error_code failure() const override { return connection_->failure(); }

private:
    std::shared_ptr<fake_connection> connection_;
};

}  // namespace

std::shared_ptr<fake_server> fake_server::make() {
    return std::shared_ptr<fake_server>{new fake_server};
}

fake_server::~fake_server() = default;

client fake_server::make_client(asio::any_io_executor executor, config settings) {
    return client_access::make(detail::client_state::make(
        std::move(executor),
        std::move(settings),
        [self = shared_from_this()](auto strand, auto shared_settings, auto count) {
            return self->make_port(strand, shared_settings, count);
        }
    ));
}

std::unique_ptr<detail::redis_port> fake_server::make_port(
    asio::any_io_executor strand,
    std::shared_ptr<config const> /*settings*/,
    std::shared_ptr<detail::counters> count
) {
    return std::make_unique<fake_port>(
        std::make_shared<fake_connection>(shared_from_this(), std::move(strand), std::move(count))
    );
}

// What is on the server

fake_server::value* fake_server::find(std::string const& key) {
    auto const at = data_.find(key);
    if (at == data_.end()) {
        return nullptr;
    }
    if (at->second.ends && *at->second.ends <= lease_clock::now()) {
        data_.erase(at);
        return nullptr;
    }
    return &at->second;
}

std::int64_t fake_server::pttl_of(std::string const& key) {
    auto const* const found = find(key);
    if (!found) {
        return -2;
    }
    if (!found->ends) {
        return -1;
    }
    return std::chrono::floor<milliseconds>(*found->ends - lease_clock::now()).count();
}

bool fake_server::exists(std::string const& key) {
    std::lock_guard const guard{mutex_};
    return find(key) != nullptr;
}

std::int64_t fake_server::pttl(std::string const& key) {
    std::lock_guard const guard{mutex_};
    return pttl_of(key);
}

std::vector<std::string> fake_server::keys() {
    std::lock_guard const guard{mutex_};
    std::vector<std::string> all;
    for (auto const& [key, unused] : std::map{data_}) {
        if (find(key)) {
            all.push_back(key);
        }
    }
    return all;
}

std::vector<std::string> fake_server::lock_keys() {
    auto all = keys();
    std::erase_if(all, [](std::string const& key) {
        return key.starts_with("redisson_lock_token:");
    });
    return all;
}

std::map<std::string, std::string> fake_server::hgetall(std::string const& key) {
    std::lock_guard const guard{mutex_};
    auto const* const found = find(key);
    return found ? found->fields : std::map<std::string, std::string>{};
}

std::size_t fake_server::subscriptions() {
    std::lock_guard const guard{mutex_};
    std::size_t n = 0;
    for (auto const& connection : connections()) {
        n += connection->subscribed().size();
    }
    return n;
}

// What somebody else does

void fake_server::hset(
    std::string const& key,
    std::string const& field,
    std::string const& content
) {
    std::lock_guard const guard{mutex_};
    find(key);
    data_[key].fields[field] = content;
}

void fake_server::set(std::string const& key, std::string const& content) {
    std::lock_guard const guard{mutex_};
    data_[key] = {false, {}, content, {}};
}

void fake_server::pexpire(std::string const& key, milliseconds after) {
    std::lock_guard const guard{mutex_};
    if (auto* const found = find(key)) {
        found->ends = lease_clock::now() + after;
    }
}

void fake_server::del(std::string const& key) {
    std::lock_guard const guard{mutex_};
    data_.erase(key);
}

void fake_server::publish(std::string const& channel) {
    std::lock_guard const guard{mutex_};
    publish_now(channel);
}

void fake_server::publish_now(std::string const& channel) {
    for (auto const& connection : connections()) {
        connection->notify(channel);
    }
}

void fake_server::lock_as_other(std::string const& key, milliseconds lease) {
    hset(key, "00000000-0000-0000-0000-000000000000:1", "1");
    pexpire(key, lease);
}

void fake_server::unlock_as_other(std::string const& key) {
    del(key);
    publish(detail::make_key_names("", key).channel);
}

std::size_t fake_server::arrived(std::string_view script) {
    std::lock_guard const guard{mutex_};
    std::size_t n = 0;
    for (auto const& [name, counted] : tallies_) {
        n += script.empty() || script == name ? counted.arrived : 0;
    }
    return n;
}

std::size_t fake_server::executed(std::string_view script) {
    std::lock_guard const guard{mutex_};
    std::size_t n = 0;
    for (auto const& [name, counted] : tallies_) {
        n += script.empty() || script == name ? counted.executed : 0;
    }
    return n;
}

// Faults

void fake_server::hold_requests(bool hold) {
    std::lock_guard const guard{mutex_};
    requests_held_ = hold;
    pump();
}

void fake_server::hold_replies(bool hold) {
    std::lock_guard const guard{mutex_};
    replies_held_ = hold;
    pump();
}

void fake_server::hold_confirmations(bool hold) {
    std::lock_guard const guard{mutex_};
    confirmations_held_ = hold;
    pump();
}

void fake_server::drop_replies(std::string_view script, int n) {
    std::lock_guard const guard{mutex_};
    drops_[std::string{script}] = n;
}

void fake_server::refuse(std::string_view script, exec_result answer, int n) {
    std::lock_guard const guard{mutex_};
    refusals_.push_back({std::string{script}, std::move(answer), n});
}

void fake_server::refuse_subscriptions(error_code cause) {
    std::lock_guard const guard{mutex_};
    subscription_refusal_ = cause;
}

void fake_server::set_up(bool up) {
    std::lock_guard const guard{mutex_};
    commands_up_ = notices_up_ = up;
    failure_ = {};
    for (auto const& connection : connections()) {
        connection->update();
    }
}

void fake_server::set_commands_up(bool up) {
    std::lock_guard const guard{mutex_};
    commands_up_ = up;
    for (auto const& connection : connections()) {
        connection->update();
    }
}

void fake_server::set_notices_up(bool up) {
    std::lock_guard const guard{mutex_};
    notices_up_ = up;
    for (auto const& connection : connections()) {
        connection->update();
    }
}

void fake_server::fail(error_code cause) {
    std::lock_guard const guard{mutex_};
    commands_up_ = notices_up_ = false;
    failure_ = cause;
    for (auto const& connection : connections()) {
        connection->update();
    }
}

std::vector<std::shared_ptr<fake_connection>> fake_server::connections() {
    std::erase_if(connections_, [](auto const& weak) { return weak.expired(); });
    std::vector<std::shared_ptr<fake_connection>> all;
    for (auto const& weak : connections_) {
        if (auto connection = weak.lock()) {
            all.push_back(std::move(connection));
        }
    }
    return all;
}

void fake_server::pump() {
    for (auto const& connection : connections()) {
        connection->pump();
    }
}

std::optional<exec_result> fake_server::refused(std::string_view script) {
    auto const at = std::find_if(refusals_.begin(), refusals_.end(), [&](refusal const& r) {
        return r.script == script;
    });
    if (at == refusals_.end()) {
        return std::nullopt;
    }
    auto answer = at->answer;
    if (--at->left == 0) {
        refusals_.erase(at);
    }
    return answer;
}

bool fake_server::takes_drop(std::string_view script) {
    auto const at = drops_.find(script);
    if (at == drops_.end() || at->second == 0) {
        return false;
    }
    --at->second;
    return true;
}

// The scripts; see src/redis/scripts/*.lua

exec_result fake_server::execute(
    std::string_view script,
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    auto const* const found = find(keys.at(0));
    if (found && !found->is_hash) {
        return wrong_type();
    }
    if (script == detail::scripts::acquire.name) {
        return acquire(keys, args);
    }
    if (script == detail::scripts::release.name) {
        return release(keys, args);
    }
    if (script == detail::scripts::renew.name) {
        return renew(keys, args);
    }
    if (script == detail::scripts::force_release.name) {
        return force_release(keys);
    }
    if (script == detail::scripts::inspect.name) {
        return inspect(keys);
    }
    return {exec_status::failed, errc::unsupported_server, {}};
}

exec_result fake_server::acquire(
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    milliseconds const lease{std::stoll(args.at(0))};
    auto const& holder = args.at(1);
    if (auto const* const found = find(keys.at(0))) {
        if (!only_holders(found->fields)) {
            return replied({std::int64_t{2}});
        }
        if (!found->fields.contains(holder)) {
            return replied({std::int64_t{0}, pttl_of(keys.at(0))});
        }
    }
    auto const token = next_token(keys.at(1), milliseconds{std::stoll(args.at(2))});
    constexpr std::int64_t most_exact = (std::int64_t{1} << 53) - 1;
    if (token < 1 || token > most_exact) {
        return replied({std::int64_t{2}});
    }
    auto& lock = data_[keys.at(0)];
    lock.fields[holder] = "1";
    lock.ends = lease_clock::now() + lease;
    return replied({std::int64_t{1}, token});
}

std::int64_t fake_server::next_token(std::string const& counter, milliseconds keep) {
    auto* found = find(counter);
    if (found) {
        auto const token = std::stoll(found->text) + 1;
        found->text = std::to_string(token);
        if (found->ends && keep > milliseconds{0}) {
            found->ends = lease_clock::now() + keep;
        }
        return token;
    }
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    auto const token = std::chrono::floor<std::chrono::microseconds>(since_1970).count();
    data_[counter] = {false, {}, std::to_string(token), {}};
    if (keep > milliseconds{0}) {
        data_[counter].ends = lease_clock::now() + keep;
    }
    return token;
}

exec_result fake_server::release(
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    auto* const found = find(keys.at(0));
    if (!found || found->fields.erase(args.at(0)) == 0) {
        return replied({std::int64_t{0}});
    }
    if (found->fields.empty()) {
        data_.erase(keys.at(0));
    }
    publish_now(keys.at(1));
    return replied({std::int64_t{1}, std::int64_t{1}});
}

exec_result fake_server::renew(
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    auto* const found = find(keys.at(0));
    if (!found || !found->fields.contains(args.at(1))) {
        return replied({std::int64_t{0}, std::int64_t{found ? 1 : 0}});
    }
    found->ends = lease_clock::now() + milliseconds{std::stoll(args.at(0))};
    return replied({std::int64_t{1}});
}

exec_result fake_server::force_release(std::vector<std::string> const& keys) {
    auto const* const found = find(keys.at(0));
    if (!found) {
        return replied({std::int64_t{0}});
    }
    if (!only_holders(found->fields)) {
        return replied({std::int64_t{2}});
    }
    data_.erase(keys.at(0));
    publish_now(keys.at(1));
    return replied({std::int64_t{1}});
}

exec_result fake_server::inspect(std::vector<std::string> const& keys) {
    auto const* const counter = find(keys.at(1));
    std::string holder;
    std::string count;
    if (auto const* const found = find(keys.at(0))) {
        if (found->fields.size() != 1 || !only_holders(found->fields)) {
            return replied({std::int64_t{-3}});
        }
        std::tie(holder, count) = *found->fields.begin();
    }
    return replied({pttl_of(keys.at(0)), counter ? counter->text : std::string{}, holder, count});
}

}  // namespace holdfast::test
