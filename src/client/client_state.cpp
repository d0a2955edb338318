#include "client/client_state.hpp"

#include "client/context_service.hpp"
#include "client/place.hpp"
#include "core/check_config.hpp"
#include "protocol/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

using purpose = connection_id::purpose;

observer::connection observed(connection_id const& which) {
    using to = observer::connection::purpose;
    return {which.server, which.what == purpose::commands ? to::commands : to::subscriptions};
}

}  // namespace

client_state::client_state(asio::any_io_executor executor, config settings)
    : client_context{std::move(executor), std::move(settings)},
      holds_{*this},
      acquisitions_{*this, holds_},
      connecting_{*this},
      electing_{*this},
      numbers_{*this} {}

std::shared_ptr<client_state> client_state::make(
    asio::any_io_executor executor,
    config settings,
    backend_factory const& make_backend
) {
    check_config(settings);
    std::shared_ptr<client_state> self{new client_state{std::move(executor), std::move(settings)}};
    self->start(make_backend);
    return self;
}

client_state::~client_state() {
    if (service_ && !gone()) {
        service_->remove(*this);
    }
}

void client_state::start(backend_factory const& make_backend) {
    service_ = &asio::use_service<context_service>(executor().context());
    service_->add(*this);
    holds_.releases().set_observer({
        .on_answered =
            [this](std::shared_ptr<target const> const& on, released const& what) {
                acquisitions_.on_given_back(on, what);
            },
        .on_idle = [this] { on_idle(); },
    });
    numbers_.set_on_idle([this] { on_idle(); });
    backend_ = make_backend(strand(), settings_, count_);
    clustered_ = backend_->clustered();
    place_ = place_of(settings(), backend_->object());
    tell_observer([this](observer& told) { told.on_client(statistics()); });
    on_strand([self = shared_from_this(), this] { start_backend(); });
}

void client_state::start_backend() {
    if (!stopped_) {
        backend_->start(*this);
    }
}

void client_state::on_context_gone() noexcept {
    // Handlers may own the last reference to anything, this client included.
    auto const self = shared_from_this();
    service_ = nullptr;
    self_.reset();
    connecting_.clear();
    electing_.clear();
    clear_delays();
    auto const ready = std::exchange(ready_waiters_, {});
    auto const shutdown = std::exchange(shutdown_waiters_, {});
    end_timer_.reset();
    close();
    note_state(connection_state::stopped);
    mark_gone();
    holds_.on_context_gone();
    acquisitions_.clear();
    numbers_.clear();
    count().connections_now.subtract(std::exchange(connections_, {}).size());
    leave_context();
}

std::shared_ptr<target const> client_state::checked(target made, std::string_view name) {
    auto const allowed = std::make_shared<target const>(allowed_by(settings(), std::move(made)));
    if (!allowed->valid()) {
        report_name(name);
    }
    return allowed;
}

void client_state::report_name(std::string_view name) {
    if (!settings().log) {
        return;
    }
    on_strand([self = shared_from_this(), this, fault = fault_of_name(settings(), name)] {
        log(log_level::error, {"invalid name", fault}, "invalid name of a lock: " + fault);
    });
}

client_status client_state::status() const {
    std::lock_guard const guard{status_mutex_};
    return status_;
}

void client_state::note_state(connection_state now) {
    std::lock_guard const guard{status_mutex_};
    if (status_.state != now && status_.state != connection_state::stopped) {
        status_.state = now;
        status_.since = lease_clock::now();
        if (now == connection_state::connected && !status_.last_error) {
            status_.last_error_text.clear();
        }
    }
}

void client_state::note_error(error_code cause, std::string_view text) {
    std::lock_guard const guard{status_mutex_};
    status_.last_error = cause;
    status_.last_error_text = text;
}

// What the backend says

bool client_state::all_up() const {
    return backend_ && backend_->up(purpose::commands) && backend_->up(purpose::subscriptions);
}

grant_delay& client_state::delay(std::uint32_t number) {
    auto const goes_on = [this](some const& those) { on_grants_possible(those); };
    auto& one = delays_[number];
    if (!one) {
        one = std::make_shared<grant_delay>(*this, number, goes_on);
    }
    return *one;
}

void client_state::on_grants_possible(some const& those) {
    acquisitions_.on_connected(those);
    numbers_.loops().on_connected(*this, those);
}

void client_state::clear_delays() noexcept {
    for (auto const& [number, one] : std::exchange(delays_, {})) {
        one->clear();
    }
}

void client_state::on_up(connection_id which) {
    connections_.push_back(observed(which));
    count().connections_now.add();
    tell_observer([&](observer& told) { told.on_connected(connections_.back()); });
    on_changed();
    if (which.what == purpose::commands) {
        auto const to = backend_->who(which.server);
        auto& known = server(which.server);
        known.reset();
        stranded_.reset(lease_clock::now());
        if (known.identity.on_connected(to.run_id, lease_clock::now())) {
            log(log_level::warning,
                "the server is another one: all its leases are asked for there");
        }
        // A server's uptime follows its wall clock, which may step while the machine starts. Where
        // this client knew the process before, the new one began when it was first seen, or later.
        node_.on_up(to.run_id, std::max(to.began_by, known.identity.changed_at()));
        auto const those = those_of(which);
        holds_.on_connected(those);
        connecting_.tell({}, those);
        electing_.on_connected(those);
        delay(which.server).on_connected(to.run_id, those);
    }
}

void client_state::on_down(connection_id which) {
    auto const gone = observed(which);
    count().connections_now.subtract(std::erase_if(connections_, [&](auto const& one) {
        return one.server == gone.server && one.what == gone.what;
    }));
    tell_observer([&](observer& told) { told.on_disconnected(gone); });
    on_changed();
    if (which.what == purpose::commands) {
        auto const those = those_of(which);
        node_.on_down();
        holds_.on_disconnected(those);
        delay(which.server).on_disconnected();
        electing_.observers().on_disconnected(those);
        acquisitions_.on_disconnected(those);
        numbers_.loops().on_disconnected(those);
    }
}

void client_state::on_unconnected(connection_id which, error_code cause, std::string_view text) {
    note_error(cause, text);
    if (which.what == purpose::commands) {
        log_out_of_reach(cause);
    }
}

void client_state::log_out_of_reach(error_code cause) {
    acquisitions::stranded waiting;
    if (settings().log) {
        waiting = acquisitions_.out_of_reach();
        numbers_.add_out_of_reach(waiting);
    }
    if (waiting.count == 0) {
        return;
    }
    auto const name = escaped(waiting.lock);
    auto const why = cause.message();
    auto const line =
        waiting.count == 1
            ? fmt::format("an acquisition of \"{}\" waits for a connection: {}", name, why)
            : fmt::format(
                  "{} acquisitions wait for a connection, that of \"{}\" first: {}",
                  waiting.count,
                  name,
                  why
              );
    auto const now = lease_clock::now();
    if (auto const told = stranded_.admit(log_level::warning, {}, waiting.lock, line, now)) {
        settings().log(log_level::warning, *told);
    }
}

void client_state::on_refused(refusal const& what) {
    // Whatever the scripts of several kinds of locks are refused for is one cause.
    auto const key = what.key.empty() ? "" : fmt::format(" for \"{}\"", escaped(what.key));
    log(what.permanent ? log_level::error : log_level::warning,
        {what.why, what.key},
        fmt::format("the server refused {}{}: {}", what.what, key, what.why));
}

void client_state::on_failure(connection_id which, error_code cause) {
    if (status().last_error != cause) {
        note_error(cause, cause.message());
    }
    node_.on_failure(cause);
    tell(&client_state::ready_waiters_, cause);
    end_all(cause, those_of(which));
}

// What was sent to the former server is answered from there, or by nobody: this asks again.
void client_state::on_moved(std::function<bool(std::string_view key)> const& these) {
    auto const those = those_with(these);
    holds_.on_connected(those);
    connecting_.tell({}, those);
    electing_.on_connected(those);
    on_grants_possible(those);
}

// Who waits for a connection to it, or for its keys, is told of them next.
void client_state::on_failed_over(std::uint32_t number) {
    auto& known = server(number);
    known.identity.on_replaced(lease_clock::now());
    // The replica's users may have other rights than those of its primary.
    known.has_granted = false;
    delay(number).on_replaced();
    // A slot may move on before its leases are asked for here.
    holds_.on_replaced(those_of({.server = number}));
    log(log_level::warning,
        "a replica has taken over: all leases of its primary are asked for there");
}

void client_state::on_closed(std::uint32_t number) {
    count().connections_now.subtract(std::erase_if(connections_, [&](auto const& which) {
        bool const closed = which.server == number;
        if (closed) {
            tell_observer([&](observer& told) { told.on_disconnected(which); });
        }
        return closed;
    }));
}

void client_state::on_forgotten(std::uint32_t number) {
    if (auto const gone = delays_.extract(number)) {
        gone.mapped()->clear();
    }
    forget_server(number);
}

void client_state::on_changed() {
    bool const up = all_up();
    note_state(up ? connection_state::connected : connection_state::connecting);
    if (up) {
        tell(&client_state::ready_waiters_, {});
    }
}

void client_state::end_all(error_code cause) {
    end_all(cause, everything());
}

void client_state::end_all(error_code cause, some const& those) {
    connecting_.tell(cause, those);
    electing_.observers().end_all(cause, those);
    acquisitions_.end_all(cause, those);
    numbers_.loops().end_all(cause, those);
}

// Coming and going

void client_state::wait_in(
    plain_waiters client_state::* where,
    plain_handler handler,
    std::function<void()> then
) {
    if (gone()) {
        return;
    }
    auto const waiting =
        std::make_shared<pending_handler<error_code>>(std::move(handler), executor());
    abort_on_cancel(waiting, shared_from_this());
    on_strand([self = shared_from_this(), this, where, waiting, then = std::move(then)] {
        auto& waiters = this->*where;
        std::erase_if(waiters, [](auto const& w) { return !*w; });  // those that were cancelled
        waiters.push_back(waiting);
        then();
    });
}

void client_state::tell(plain_waiters client_state::* where, error_code ec) {
    auto const waiters = std::exchange(this->*where, {});
    for (auto const& waiting : waiters) {
        waiting->complete(ec);
    }
}

void client_state::ready(plain_handler handler) {
    wait_in(&client_state::ready_waiters_, std::move(handler), [this] { on_ready_asked(); });
}

void client_state::on_ready_asked() {
    if (stopping()) {
        tell(&client_state::ready_waiters_, errc::client_stopped);
    } else if (all_up()) {
        tell(&client_state::ready_waiters_, {});
    } else if (auto const cause = failure()) {
        tell(&client_state::ready_waiters_, cause);
    }
}

void client_state::shutdown(plain_handler handler) {
    close();
    wait_in(&client_state::shutdown_waiters_, std::move(handler), [this] { begin_shutdown(); });
}

void client_state::drain(nanos timeout, plain_handler handler) {
    wait_in(&client_state::shutdown_waiters_, std::move(handler), [this, timeout] {
        begin_drain(timeout);
    });
}

void client_state::begin_drain(nanos timeout) {
    if (stopping_) {
        begin_shutdown();
        return;
    }
    if (std::exchange(draining_, true)) {
        return;
    }
    acquisitions_.close();
    acquisitions_.end_all(errc::client_stopped);
    numbers_.loops().end_all(errc::client_stopped, everything());
    if (holds_.empty() || timeout <= nanos{0}) {
        begin_shutdown();
        return;
    }
    end_timer_.emplace(strand());
    sleep_until(*end_timer_, saturating_add(lease_clock::now(), timeout));
    end_timer_->async_wait([self = shared_from_this(), this](error_code ec) {
        if (!ec) {
            begin_shutdown();
        }
    });
}

void client_state::abandon() noexcept {
    close();
    try {
        on_strand([self = shared_from_this(), this] { begin_shutdown(); });
    } catch (...) {
        // A destructor calls this. The connections stay until the context ends, and they refer to
        // this.
        self_ = shared_from_this();
    }
}

void client_state::begin_shutdown() {
    if (stopped_) {
        tell(&client_state::shutdown_waiters_, shutdown_result_);
        return;
    }
    if (std::exchange(stopping_, true)) {
        return;
    }
    close();
    note_state(connection_state::stopped);
    node_.on_failure(errc::client_stopped);
    node_.on_down();
    acquisitions_.close();
    tell(&client_state::ready_waiters_, errc::client_stopped);
    end_all(errc::client_stopped);
    holds_.stop();
    numbers_.forget_now();
    if (idle()) {
        finish_shutdown();
        return;
    }
    end_timer_.emplace(strand());
    sleep_until(*end_timer_, saturating_add(lease_clock::now(), settings().shutdown_timeout));
    end_timer_->async_wait([self = shared_from_this(), this](error_code ec) {
        if (!ec && !stopped_) {
            finish_shutdown();
        }
    });
}

bool client_state::idle() {
    return holds_.releases().idle() && numbers_.idle();
}

void client_state::on_idle() {
    if (stopped_) {
        return;
    }
    if (stopping_) {
        if (idle()) {
            finish_shutdown();
        }
    } else if (draining_ && holds_.releases().idle() && holds_.empty()) {
        begin_shutdown();
    }
}

void client_state::finish_shutdown() {
    stopped_ = true;
    holds_.releases().stop();
    bool const left_behind = holds_.releases().left_behind() || numbers_.withdraws();
    shutdown_result_ = left_behind ? make_error_code(errc::release_unknown) : error_code{};
    end_timer_.reset();
    connecting_.tell(errc::client_stopped);
    clear_delays();
    electing_.clear();
    acquisitions_.clear();
    numbers_.clear();
    backend_->stop();
    // Behind the losses that are logged on the strand.
    on_strand([self = shared_from_this(), this] { end_log(); });
    // The backend tells of nothing that ends after this.
    for (auto const& which : std::exchange(connections_, {})) {
        count().connections_now.subtract();
        tell_observer([&](observer& told) { told.on_disconnected(which); });
    }
    tell(&client_state::shutdown_waiters_, shutdown_result_);
}

}  // namespace holdfast::detail
