#include "runtime/client_context.hpp"

#include "core/lease_terms.hpp"
#include "protocol/primitive.hpp"
#include "protocol/slot.hpp"
#include "protocol/target.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/require.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <fmt/format.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace holdfast::detail {

namespace {

// Counts the forks between this process and the one that the program began as.
std::atomic<std::uint64_t> forks{0};

std::uint64_t watch_forks() {
    static int const registered =
        ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    static_cast<void>(registered);
    return forks.load(std::memory_order_relaxed);
}

std::string make_client_id() {
    boost::uuids::uuid id;
    std::array<std::uint64_t, 2> bits{};
    fill_from_system(bits);
    std::memcpy(id.begin(), bits.data(), sizeof bits);
    // Version 4, RFC 9562.
    *(id.begin() + 6) = static_cast<std::uint8_t>((*(id.begin() + 6) & 0x0fU) | 0x40U);
    *(id.begin() + 8) = static_cast<std::uint8_t>((*(id.begin() + 8) & 0x3fU) | 0x80U);
    return boost::uuids::to_string(id);
}

// A holder's id leads to the connections of its client in CLIENT LIST, to address and program.
config with_name_of(std::string const& client_id, config settings) {
    if (!settings.client_name.empty()) {
        settings.client_name.append(":").append(client_id);
    }
    return settings;
}

}  // namespace

client_context::client_context(asio::any_io_executor executor, config settings)
    : kept_{std::make_shared<counters>()},
      count_{kept_.get(), [kept = kept_](counters*) {}},
      executor_{std::move(executor)},
      gate_{context_gate::of(executor_.context())},
      typed_strand_{executor_},
      later_{asio::require(typed_strand_, asio::execution::blocking.never)},
      strand_{typed_strand_},
      forks_{watch_forks()},
      client_id_{make_client_id()},
      next_number_{random_from_system()},
      jitter_{static_cast<std::minstd_rand::result_type>(random_from_system())} {
    settings_ = std::make_shared<config const>(with_name_of(client_id_, std::move(settings)));
}

bool client_context::in_forked_child() const noexcept {
    // mutant: forked-child-goes-on
    return forks.load(std::memory_order_relaxed) != forks_;
}

guarded_executor client_context::guard(asio::any_io_executor executor) const {
    // The usual case, and the quick one.
    auto& context = executor.context();
    auto gate = &context == &executor_.context() ? gate_ : context_gate::of(context);
    return {std::move(executor), std::move(gate)};
}

void client_context::leave_context() noexcept {
    backend_.reset();
    log_timer_.reset();
    log_ended_ = true;
    strand_ = {};
    later_ = {};
    typed_strand_ = {};
}

void client_context::exec(call&& what, exec_handler&& handler) {
    if (!backend_ || in_forked_child()) {
        on_strand([handler = std::move(handler)]() mutable {
            std::move(handler)(exec_result{exec_status::not_sent, errc::client_stopped, {}});
        });
        return;
    }
    backend_->exec(std::move(what), std::move(handler));
}

// A script that found nothing of ours has kept nothing that replicas would have to have. That is
// for who reads the reply.
void client_context::exec_confirmed(call&& what, exec_handler&& handler) {
    if (!confirms() || !backend_ || in_forked_child()) {
        exec(std::move(what), std::move(handler));
        return;
    }
    auto const wanted = replication_of(what);
    backend_->exec_replicated(
        std::move(what),
        wanted,
        [wanted, handler = std::move(handler)](exec_result result, unsigned confirmed) mutable {
            // mutant: too-few-replicas-are-enough
            if (result.status == exec_status::replied && confirmed < wanted.count) {
                result.status = exec_status::unconfirmed;
                result.error = errc::not_replicated;
            }
            std::move(handler)(std::move(result));
        }
    );
}

void client_context::exec_granting(
    call&& what,
    call&& again,
    is_grant granted,
    exec_handler&& handler
) {
    if (!confirms()) {
        exec(std::move(what), std::move(handler));
        return;
    }
    exec(
        std::move(what),
        [self = shared_from_this(),
         again = std::move(again),
         granted = std::move(granted),
         handler = std::move(handler)](exec_result result) mutable {
            bool const grant = result.status == exec_status::replied && granted(result.reply);
            // One that is taken back already must not be granted again.
            if (!grant || again.is_withdrawn()) {
                std::move(handler)(std::move(result));
                return;
            }
            self->confirm_grant(std::move(again), std::move(granted), std::move(handler));
        }
    );
}

void client_context::confirm_grant(call&& again, is_grant granted, exec_handler&& handler) {
    auto answer = [granted = std::move(granted),
                   handler = std::move(handler)](exec_result result) mutable {
        bool const replied = result.status == exec_status::replied;
        bool const unconfirmed = result.status == exec_status::unconfirmed;
        if ((replied || unconfirmed) && !granted(result.reply)) {
            // It was lost meanwhile.
            result.status = exec_status::replied;
            result.error = {};
        } else if (!replied) {
            auto const cause = result.error ? result.error : make_error_code(errc::not_replicated);
            result = {exec_status::unconfirmed, cause, {}};
        }
        std::move(handler)(std::move(result));
    };
    exec_confirmed(std::move(again), std::move(answer));
}

replication client_context::replication_of(call const& what) const noexcept {
    return {settings_->replicas.count, replication_timeout_for(*settings_, what.timeout())};
}

bool client_context::hands_over(target const& on) const noexcept {
    return on.speaks->hands_over() && hands_over();
}

bool client_context::can_execute() const {
    return backend_ && backend_->up(connection_id::purpose::commands);
}

bool client_context::can_execute(target const& on) const {
    return backend_ && backend_->reach(on.slot);
}

bool client_context::may_be_answered(target const& on, nanos within) const {
    if (!may_attempt(on)) {
        return false;
    }
    auto const since = backend_->silent_since(on.slot);
    return !since || lease_clock::now() - *since <= within;
}

void client_context::hold_grants_back(std::uint32_t server, bool now) {
    if (now) {
        granting_.erase(server);
    } else {
        granting_.insert(server);
    }
}

bool client_context::is_held_back(target const& on) const {
    auto const number = clustered_ ? server_of(on.slot) : std::optional{0U};
    return !number || !granting_.contains(*number);
}

bool client_context::in_one_slot(target const& a, target const& b) const noexcept {
    return !clustered_ || a.slot == b.slot;
}

bool client_context::may_share_a_call(target const& a, target const& b) const noexcept {
    return detail::may_share_a_call(a, b) && in_one_slot(a, b);
}

client_context::some client_context::those_of(connection_id which) const {
    if (!clustered_) {
        return everything();
    }
    return [this, which](target const& on) {
        // Nobody knows yet whose it is.
        auto const number = server_of(on.slot);
        return !number || *number == which.server;
    };
}

client_context::some client_context::those_with(std::function<bool(std::string_view key)> these) {
    return [these = std::move(these)](target const& on) { return these(on.lock); };
}

server_knowledge& client_context::server(std::uint32_t number) {
    return servers_[number];
}

server_knowledge& client_context::server(target const& on) {
    auto const number = clustered_ ? server_of(on.slot) : std::nullopt;
    return server(number.value_or(0));
}

subscription client_context::subscribe(std::string channel, subscriber& to) {
    return backend_ ? backend_->subscribe(std::move(channel), to) : subscription{};
}

backend::obstacle client_context::why_down() const {
    return backend_ ? backend_->why_down() : backend::obstacle{};
}

backend::obstacle client_context::why_down(target const& on) const {
    return backend_ ? backend_->why_out_of_reach(on.slot) : backend::obstacle{};
}

error_code client_context::failure() const {
    auto const why = why_down();
    return why.permanent ? why.cause : error_code{};
}

error_code client_context::failure(target const& on) const {
    auto const why = why_down(on);
    return why.permanent ? why.cause : error_code{};
}

holder_id client_context::make_holder_id() {
    // mutant: one-holder-id-per-client
    return holder_id_of(next_number_++);
}

std::optional<holder_id> client_context::holder_id_in(std::string_view text) const noexcept {
    if (!text.starts_with(client_id_) || text.size() <= client_id_.size() + 1) {
        return std::nullopt;
    }
    auto const digits = text.substr(client_id_.size() + 1);
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    auto const id = holder_id_of(number);
    return id.view() == text ? std::optional{id} : std::nullopt;
}

// Which of the channels the user may not publish on is known to the server only.
void client_context::on_not_notified(target const& on) {
    count().refused_notifications.add();
    auto const channel = escaped(on.channel(), max_name_length);
    auto const* const speaks = on.speaks;
    auto const* const each = speaks && speaks->queues_each() ? ":*" : "";
    auto const clients = !speaks                 ? std::string{}
                         : speaks->hands_over()  ? std::string{", &holdfast_client:*"}
                         : speaks->names_turns() ? ", &" + escaped(on.waiters(), max_name_length)
                                                 : std::string{};
    auto const* const again =
        speaks && speaks->keeps_places()
            ? "Waiters of other C++ programs ask again after a quarter of config::waiter_patience, "
              "those of Java programs "
            : "Waiters of other clients ";
    // Each kind of lock needs rights of its own.
    auto const cause = fmt::format("PUBLISH {}", static_cast<int>(on.kind));
    log(log_level::error,
        {cause, on.lock},
        fmt::format(
            "the lock \"{}\" was freed, but its waiters were not notified: the server refused "
            "PUBLISH. The Redis user lacks one of the permissions +publish, &{}{}{}. {}look again "
            "when the lease that they know of would have ended",
            escaped(on.lock),
            channel,
            each,
            clients,
            again
        ));
}

void client_context::deny_learning() {
    if (!std::exchange(learning_denied_, true)) {
        log(log_level::warning,
            "the server's user lacks a permission for learned leases: leases are as long as "
            "config::lease, and the page \"The Redis user\" names the rights for that");
    }
}

void client_context::log(log_level level, subject about, std::string_view message) {
    if (!settings_->log) {
        return;
    }
    if (level != log_level::error && level != log_level::warning) {
        settings_->log(level, message);
        return;
    }
    auto const line = logged_.admit(level, about.cause, about.lock, message, lease_clock::now());
    if (line) {
        settings_->log(level, *line);
    } else {
        log_later();
    }
}

void client_context::log_later() {
    auto const due = logged_.due();
    if (log_ended_ || !due || log_due_at_ <= *due) {
        return;
    }
    log_timer_.emplace(strand());
    log_due_at_ = *due;
    sleep_until(*log_timer_, *due);
    log_timer_->async_wait([self = shared_from_this(), this](error_code ec) {
        if (!ec && !log_ended_) {
            log_due_at_ = time_point::max();
            log_due(lease_clock::now());
            log_later();
        }
    });
}

void client_context::log_due(time_point by) {
    for (auto const& [level, line] : logged_.take_due(lease_clock::now(), by)) {
        settings_->log(level, line);
    }
}

void client_context::end_log() {
    log_ended_ = true;
    log_timer_.reset();
    log_due(time_point::max());
}

}  // namespace holdfast::detail
