#include "fake_port.hpp"

#include "fake_connection.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

using std::chrono::milliseconds;

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

}  // namespace holdfast::test
