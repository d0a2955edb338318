#include "memory_server/server.hpp"

#include "memory_server/connection.hpp"
#include "protocol/lock.hpp"

#include <holdfast/lease_clock.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::memory {

namespace {

// The server's wall clock when the lease clock says zero, in µs since 1970. Its value is of no
// importance: it makes the first fencing tokens.
constexpr std::int64_t beginning = 1'700'000'000'000'000;

// What the backend says of an error. The finer points are for who reads the replies of a server.
detail::exec_result error_result(std::string_view text) {
    bool const foreign = text.starts_with("WRONGTYPE") ||
                         text.starts_with("ERR value is not an integer") ||
                         text.starts_with("ERR increment or decrement would overflow");
    if (foreign) {
        return {detail::exec_status::failed, errc::corrupt_state, {}};
    }
    if (text.starts_with("NOPERM") || text.find("ACL failure") != std::string_view::npos) {
        return {detail::exec_status::failed, errc::no_permission, {}};
    }
    return {detail::exec_status::refused, errc::server_refused, {}};
}

/// The handles of one client: its connections go with it.
class memory_backend final : public detail::backend {
public:
    memory_backend(
        std::shared_ptr<connection> to,
        std::shared_ptr<void> companion,
        server const& of
    )
        : to_{std::move(to)},
          companion_{std::move(companion)},
          object_{&of} {}
    ~memory_backend() override { to_->close(); }

    void start(detail::backend_events& events) override { to_->start(events); }
    void stop() override {
        to_->stop();
        companion_.reset();
    }
    void exec(detail::call&& what, detail::exec_handler&& handler) override {
        to_->exec(std::move(what), std::move(handler));
    }
    void exec_replicated(
        detail::call&& what,
        detail::replication const& wanted,
        detail::replicated_handler&& handler
    ) override {
        to_->exec_replicated(std::move(what), wanted, std::move(handler));
    }
    [[nodiscard]] detail::subscription subscribe(std::string channel, detail::subscriber& to)
        override {
        return to_->subscribe(std::move(channel), to);
    }
    [[nodiscard]] bool up(detail::connection_id::purpose what) const override {
        return to_->up(what);
    }
    [[nodiscard]] obstacle why_down() const override { return to_->why_down(); }
    [[nodiscard]] identity who(std::uint32_t) const override { return to_->who(); }
    [[nodiscard]] void const* object() const noexcept override { return object_; }

private:
    std::shared_ptr<connection> to_;
    std::shared_ptr<void> companion_;
    void const* object_;
};

}  // namespace

server::server() {
    begin_process();
}

void server::begin_process() {
    static std::atomic<std::uint64_t> processes{0};
    run_id_ = "memory-" + std::to_string(++processes);
    began_ = lease_clock::now();
    session_ = model_.connect([](value) {});
    model_.execute(session_, {"HELLO", "3"});
}

server::~server() = default;

std::shared_ptr<server> server::make() {
    return std::shared_ptr<server>{new server};
}

std::unique_ptr<detail::backend> server::make_backend(
    boost::asio::any_io_executor strand,
    std::shared_ptr<detail::counters> count,
    std::shared_ptr<void> companion
) {
    return std::make_unique<memory_backend>(
        std::make_shared<connection>(shared_from_this(), std::move(strand), std::move(count)),
        std::move(companion),
        *this
    );
}

redis_model& server::now() {
    auto const since = lease_clock::now().time_since_epoch() + restarts_took_;
    model_.set_time(
        beginning + std::chrono::duration_cast<std::chrono::microseconds>(since).count()
    );
    return model_;
}

// What is on the server

bool server::exists(std::string_view key) {
    std::lock_guard const guard{mutex_};
    return now().exists(key);
}

std::int64_t server::pttl(std::string_view key) {
    std::lock_guard const guard{mutex_};
    return now().pttl(key);
}

std::vector<std::string> server::keys() {
    std::lock_guard const guard{mutex_};
    return now().keys();
}

std::vector<std::string> server::lock_keys() {
    std::lock_guard const guard{mutex_};
    return now().lock_keys();
}

std::map<std::string, std::string> server::hgetall(std::string_view key) {
    std::lock_guard const guard{mutex_};
    auto const fields = now().hgetall(key);
    return {fields.begin(), fields.end()};
}

std::size_t server::subscriptions() {
    std::lock_guard const guard{mutex_};
    return model_.subscriptions();
}

std::vector<std::string> server::channels() {
    std::lock_guard const guard{mutex_};
    return model_.channels();
}

std::size_t server::clients() {
    std::lock_guard const guard{mutex_};
    return static_cast<std::size_t>(std::ranges::count_if(connections(), [](auto const& one) {
        return one->is_up();
    }));
}

// What somebody else does

value server::run_now(std::initializer_list<std::string_view> command) {
    return now().execute(session_, command).value_or(value::nil());
}

value server::run(std::initializer_list<std::string_view> command) {
    std::lock_guard const guard{mutex_};
    return run_now(command);
}

void server::hset(std::string_view key, std::string_view field, std::string_view content) {
    run({"HSET", key, field, content});
}

void server::set(std::string_view key, std::string_view content) {
    run({"SET", key, content});
}

void server::pexpire(std::string_view key, std::chrono::milliseconds after) {
    run({"PEXPIRE", key, std::to_string(after.count())});
}

void server::del(std::string_view key) {
    run({"DEL", key});
}

detail::exec_result server::carry_out(detail::call const& what) {
    std::lock_guard const guard{mutex_};
    return execute(what);
}

detail::exec_result server::execute(detail::call const& what) {
    auto const keys = std::to_string(what.keys());
    std::vector<std::string_view> words{"EVAL", what.what().text, keys};
    for (std::size_t i = 0; i < what.size(); ++i) {
        words.push_back(what.word(i));
    }
    words.push_back("1");  // the nonce
    auto const reply = now().execute(session_, words).value_or(value::nil());
    if (reply.is_error()) {
        return error_result(reply.text);
    }
    return {detail::exec_status::replied, {}, detail::script_reply{reply.text}};
}

void server::publish(std::string_view channel) {
    run({"PUBLISH", channel, "0"});
}

void server::lock_as_other(std::string_view key, std::chrono::milliseconds lease) {
    hset(key, "00000000-0000-0000-0000-000000000000:1", "1");
    pexpire(key, lease);
}

void server::unlock_as_other(std::string_view key) {
    del(key);
    publish(detail::make_lock_target("", key).channel());
}

std::size_t server::arrived(std::string_view script) {
    std::lock_guard const guard{mutex_};
    std::size_t n = 0;
    for (auto const& [name, counted] : tallies_) {
        n += script.empty() || script == name ? counted.arrived : 0;
    }
    return n;
}

std::size_t server::executed(std::string_view script) {
    std::lock_guard const guard{mutex_};
    std::size_t n = 0;
    for (auto const& [name, counted] : tallies_) {
        n += script.empty() || script == name ? counted.executed : 0;
    }
    return n;
}

// Faults

void server::hold_requests(bool hold) {
    std::lock_guard const guard{mutex_};
    requests_held_ = hold;
    pump();
}

void server::hold_replies(bool hold) {
    std::lock_guard const guard{mutex_};
    replies_held_ = hold;
    pump();
}

void server::hold_confirmations(bool hold) {
    std::lock_guard const guard{mutex_};
    confirmations_held_ = hold;
    pump();
}

void server::drop_replies(std::string_view script, int n) {
    std::lock_guard const guard{mutex_};
    drops_[std::string{script}] = n;
}

void server::refuse(std::string_view script, detail::exec_result answer, int n) {
    std::lock_guard const guard{mutex_};
    refusals_.push_back({std::string{script}, std::move(answer), n});
}

void server::change(bool commands_up, bool subscriptions_up, error_code failure) {
    commands_up_ = commands_up;
    subscriptions_up_ = subscriptions_up;
    failure_ = failure;
    for (auto const& one : connections()) {
        one->update();
    }
}

void server::set_up(bool up) {
    std::lock_guard const guard{mutex_};
    change(up, up, {});
}

void server::set_commands_up(bool up) {
    std::lock_guard const guard{mutex_};
    change(up, subscriptions_up_, failure_);
}

void server::set_notifications_up(bool up) {
    std::lock_guard const guard{mutex_};
    change(commands_up_, up, failure_);
}

void server::break_connections() {
    auto const [commands, subscriptions] = std::pair{commands_up_, subscriptions_up_};
    auto const cause = failure_;
    change(false, false, cause);
    change(commands, subscriptions, cause);
}

void server::drop_connections() {
    std::lock_guard const guard{mutex_};
    break_connections();
}

void server::restart_empty() {
    std::lock_guard const guard{mutex_};
    now().restart(false);
    // A token is greater than those that were forgotten because time has passed.
    restarts_took_ += std::chrono::seconds{1};
    begin_process();
    break_connections();
}

void server::fail(error_code cause) {
    std::lock_guard const guard{mutex_};
    change(false, false, cause);
}

std::vector<std::shared_ptr<connection>> server::connections() {
    std::vector<std::shared_ptr<connection>> all;
    std::erase_if(connections_, [&all](auto const& weak) {
        auto still = weak.lock();
        bool const gone = !still;
        if (still) {
            all.push_back(std::move(still));
        }
        return gone;
    });
    return all;
}

void server::pump() {
    for (auto const& one : connections()) {
        one->pump();
    }
}

std::optional<detail::exec_result> server::refused(std::string_view script) {
    auto const at = std::find_if(refusals_.begin(), refusals_.end(), [&](auto const& one) {
        return one.script.empty() || one.script == script;
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

bool server::takes_drop(std::string_view script) {
    for (auto const name : {script, std::string_view{}}) {
        auto const at = drops_.find(name);
        if (at != drops_.end() && at->second > 0) {
            --at->second;
            return true;
        }
    }
    return false;
}

}  // namespace holdfast::memory
