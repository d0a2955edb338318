#include "ops/client_state.hpp"

#include "ops/acquire_op.hpp"
#include "ops/context_service.hpp"
#include "ops/waiting_room.hpp"
#include "redis/scripts.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <vector>

namespace holdfast::detail {

namespace {

// Most leases are released sooner than this. It is a small part of the shortest lease: a lease that
// is older has a coroutine of its own long before anything has to be done about it.
constexpr millis young{20};

std::string make_client_id() {
    boost::uuids::uuid id;
    std::array<std::uint64_t, 2> const bits{random_from_system(), random_from_system()};
    std::memcpy(id.begin(), bits.data(), sizeof bits);
    // Version 4, RFC 9562.
    *(id.begin() + 6) = static_cast<std::uint8_t>((*(id.begin() + 6) & 0x0fU) | 0x40U);
    *(id.begin() + 8) = static_cast<std::uint8_t>((*(id.begin() + 8) & 0x3fU) | 0x80U);
    return boost::uuids::to_string(id);
}

// A number as the text of an argument.
class decimal {
public:
    explicit decimal(std::int64_t value) noexcept
        : size_{static_cast<std::size_t>(
              std::to_chars(text_.data(), text_.data() + text_.size(), value).ptr - text_.data()
          )} {}
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, 20> text_{};
    std::size_t size_;
};

}  // namespace

client_state::client_state(asio::any_io_executor executor, config settings)
    : executor_{std::move(executor)},
      strand_{asio::make_strand(executor_)},
      settings_{std::make_shared<config const>(std::move(settings))},
      count_{std::make_shared<counters>()},
      client_id_{make_client_id()},
      rooms_{*this},
      jitter_{static_cast<std::minstd_rand::result_type>(random_from_system())} {}

std::shared_ptr<client_state> client_state::make(
    asio::any_io_executor executor,
    config settings,
    port_factory const& make_port
) {
    check_config(settings);
    std::shared_ptr<client_state> self{new client_state{std::move(executor), std::move(settings)}};
    self->start(make_port);
    return self;
}

client_state::~client_state() {
    if (service_ && !gone()) {
        service_->remove(*this);
    }
}

void client_state::start(port_factory const& make_port) {
    service_ = &asio::use_service<context_service>(executor_.context());
    service_->add(*this);
    releaser_ = std::make_unique<releaser>(*this);
    port_ = make_port(strand_, settings_, count_);
    on_strand([self = shared_from_this()] {
        if (!self->stopped_) {
            self->port_->start(*self);
        }
    });
}

void client_state::on_context_gone() noexcept {
    gone_.store(true, std::memory_order_release);
    service_ = nullptr;
    // Handlers may own the last reference to anything, this client included.
    auto const self = shared_from_this();
    self_.reset();
    auto const singles = std::exchange(singles_, {});
    auto const connecting = std::exchange(connection_waiters_, {});
    auto const ready = std::exchange(ready_waiters_, {});
    auto const shutdown = std::exchange(shutdown_waiters_, {});
    while (!grants_.empty()) {
        auto const held = grants_.front().shared_from_this();
        grants_.pop_front();
        held->on_context_gone();
    }
    owners_.clear();
    rooms_.clear();
    releaser_->stop();
    keep_alive_timer_.reset();
    shutdown_timer_.reset();
    port_.reset();
    strand_ = {};
}

void client_state::log(log_level level, std::string_view message) const {
    if (settings_->log) {
        settings_->log(level, message);
    }
}

// Acquisitions

void client_state::enter(std::shared_ptr<acquire_op> op) {
    owners_.on_enter(op);
    if (!op->waits()) {
        op->place = singles_.insert(singles_.end(), op);
        op->listed = true;
        if (commands_up()) {
            op->attempt();
        }
        return;
    }
    rooms_.enter(std::move(op));
}

void client_state::leave(acquire_op& op) {
    owners_.on_leave(op);
    if (op.room) {
        op.room->leave(op);
    } else if (std::exchange(op.listed, false)) {
        singles_.erase(op.place);
    }
}

void client_state::exec_acquire(acquire_op& op, exec_handler handler) {
    auto const& key = *op.key();
    decimal const lease{op.terms().lease.count()};
    decimal const keep{settings_->fence_ttl.count()};
    // The channel is a key of the release. Who may not use it learns of it here, not with the lock
    // in his hands.
    std::array<std::string_view, 3> const all{key.lock, key.counter, key.channel};
    boost::span<std::string_view const> const keys{
        all.data(),
        rehearsed_ ? std::size_t{2} : all.size()
    };
    std::array<std::string_view, 4> const args{
        lease.view(),
        op.id().view(),
        keep.view(),
        rehearsed_ ? "0" : "1"
    };
    count_->attempts.add();
    exec(scripts::acquire, keys, args, op.terms().request_timeout, std::move(handler));
}

lease client_state::make_lease(
    acquire_op& op,
    fencing_token token,
    asio::any_io_executor const& holder
) {
    rehearsed_ = true;
    count_->grants.add();
    count_->leases_now.add();
    auto const now = lease_clock::now();
    auto const held = std::make_shared<grant>(
        shared_from_this(),
        op.key(),
        op.id(),
        token,
        lease_fsm{op.terms(), op.sent_at(), now},
        now,
        holder
    );
    grants_.push_back(*held);
    held->on_listed();
    auto delivered = held->make_lease();
    owners_.on_granted(op, *held);
    if (op.sent_at() + op.terms().renew_after < now + 2 * young) {
        held->start_keep_alive();
    } else {
        arm_keep_alives(now + young);
    }
    return delivered;
}

void client_state::withdraw(acquire_op const& op) {
    count_->withdrawals.add();
    release(
        {.key = op.key(),
         .id = op.id(),
         .until = lease_clock::now() + op.terms().lease,
         .timeout = op.terms().request_timeout,
         .withdrawal = true,
         .handler = {}}
    );
}

// Grants

void client_state::exec_renew(grant& held, exec_handler handler) {
    auto const terms = held.terms();
    decimal const lease{terms.lease.count()};
    std::array<std::string_view, 1> const keys{held.key()->lock};
    std::array<std::string_view, 2> const args{lease.view(), held.id().view()};
    exec(scripts::renew, keys, args, terms.request_timeout, std::move(handler));
}

void client_state::arm_keep_alives(time_point at) {
    if (std::exchange(keep_alives_armed_, true)) {
        return;
    }
    if (!keep_alive_timer_) {
        keep_alive_timer_.emplace(strand_);
    }
    sleep_until(*keep_alive_timer_, at);
    keep_alive_timer_->async_wait([self = shared_from_this()](error_code ec) {
        self->keep_alives_armed_ = false;
        if (!ec) {
            self->start_keep_alives();
        }
    });
}

void client_state::start_keep_alives() {
    auto const now = lease_clock::now();
    // The grants stand in the order of their times: the young ones are the last.
    auto first = grants_.end();
    while (first != grants_.begin() && std::prev(first)->granted_at() > kept_alive_until_) {
        --first;
    }
    for (; first != grants_.end(); ++first) {
        if (first->granted_at() + young / 2 > now) {
            arm_keep_alives(first->granted_at() + young);
            return;
        }
        kept_alive_until_ = first->granted_at();
        first->start_keep_alive();
    }
}

void client_state::release(release_task task) {
    if (stopped_ || gone()) {
        if (task.handler) {
            task.handler->complete(task.was_lost ? errc::lease_lost : errc::release_unknown);
        }
        return;
    }
    releaser_->add(std::move(task));
}

void client_state::forget(grant& held) {
    if (held.is_linked()) {
        grants_.erase(grants_.iterator_to(held));
        owners_.on_forgotten(held);
        count_->leases_now.subtract();
        held.on_forgotten();
    }
}

void client_state::on_release_settled() {
    if (stopping_ && !stopped_ && releaser_->idle()) {
        finish_shutdown(true);
    }
}

void client_state::exec(
    script const& what,
    boost::span<std::string_view const> keys,
    boost::span<std::string_view const> args,
    nanos timeout,
    exec_handler handler
) {
    if (!port_ || stopped_) {
        on_strand([handler = std::move(handler)]() mutable {
            std::move(handler)(exec_result{exec_status::not_sent, errc::client_stopped, {}});
        });
        return;
    }
    port_->exec(what, keys, args, timeout, std::move(handler));
}

void client_state::when_connected(std::function<void(error_code)> f) {
    on_strand([self = shared_from_this(), f = std::move(f)]() mutable {
        if (self->stopping_) {
            f(errc::client_stopped);
            return;
        }
        if (self->commands_up() || self->failure()) {
            f(self->commands_up() ? error_code{} : self->failure());
            return;
        }
        auto const waiting = std::make_shared<connection_waiter>(
            connection_waiter{std::move(f), timer{self->strand_}}
        );
        self->connection_waiters_.push_back(waiting);
        sleep_until(
            waiting->limit,
            lease_clock::now() + request_timeout_for(*self->settings_, self->settings_->lease)
        );
        waiting->limit.async_wait([self, waiting](error_code ec) {
            if (!ec && waiting->f) {
                self->connection_waiters_.remove(waiting);
                std::exchange(waiting->f, {})(errc::unreachable);
            }
        });
    });
}

void client_state::tell_connected(error_code ec) {
    for (auto const& waiting : std::exchange(connection_waiters_, {})) {
        waiting->limit.cancel();
        std::exchange(waiting->f, {})(ec);
    }
}

// What the port says

void client_state::on_commands_up() {
    rehearsed_ = false;
    if (port_->notices_up()) {
        tell(&client_state::ready_waiters_, {});
    }
    releaser_->on_connected();
    tell_connected({});
    for (auto& held : grants_) {
        // Spread over a part of the time that is left, so that thousands of renewals do not come at
        // once.
        auto const delay = held.terms().renew_after / 16;
        held.on_connected(scaled(delay, random_part()));
    }
    auto const singles = singles_;
    for (auto const& op : singles) {
        if (op->listed && !op->in_flight()) {
            op->attempt();
        }
    }
    rooms_.on_commands_up();
}

void client_state::on_commands_down() {
    for (auto& held : grants_) {
        held.on_disconnected();
    }
    rooms_.on_commands_down();
}

void client_state::on_failure(error_code cause) {
    tell(&client_state::ready_waiters_, cause);
    end_all(cause);
}

void client_state::end_all(error_code cause) {
    tell_connected(cause);
    auto const singles = singles_;
    for (auto const& op : singles) {
        op->end(cause);
    }
    rooms_.end_all(cause);
}

void client_state::on_notices_up() {
    if (port_->commands_up()) {
        tell(&client_state::ready_waiters_, {});
    }
}

void client_state::on_notices_down() {
    rooms_.on_notices_down();
}

void client_state::on_subscribed(std::string_view channel, bool again) {
    rooms_.on_subscribed(channel, again);
}

void client_state::on_subscribe_refused(std::string_view channel, error_code cause) {
    rooms_.on_subscribe_refused(channel, cause);
}

void client_state::on_notice(std::string_view channel) {
    rooms_.on_notice(channel);
}

// Coming and going

void client_state::wait_in(
    plain_waiters client_state::* where,
    plain_handler handler,
    void (client_state::*then)()
) {
    auto const waiting =
        std::make_shared<pending_handler<error_code>>(std::move(handler), executor_);
    if (gone()) {
        return;
    }
    abort_on_cancel(waiting, shared_from_this());
    on_strand([self = shared_from_this(), where, waiting, then] {
        auto& waiters = (*self).*where;
        std::erase_if(waiters, [](auto const& w) { return !*w; });  // those that were cancelled
        waiters.push_back(waiting);
        ((*self).*then)();
    });
}

void client_state::tell(plain_waiters client_state::* where, error_code ec) {
    for (auto const& waiting : std::exchange(this->*where, {})) {
        waiting->complete(ec);
    }
}

void client_state::ready(plain_handler handler) {
    wait_in(&client_state::ready_waiters_, std::move(handler), &client_state::on_ready_asked);
}

void client_state::on_ready_asked() {
    if (stopping_) {
        tell(&client_state::ready_waiters_, errc::client_stopped);
    } else if (port_->commands_up() && port_->notices_up()) {
        tell(&client_state::ready_waiters_, {});
    } else if (port_->failure()) {
        tell(&client_state::ready_waiters_, port_->failure());
    }
}

void client_state::shutdown(plain_handler handler) {
    wait_in(&client_state::shutdown_waiters_, std::move(handler), &client_state::begin_shutdown);
}

void client_state::abandon() noexcept {
    try {
        on_strand([self = shared_from_this()] { self->begin_shutdown(); });
    } catch (...) {
        // Out of memory: the connections stay until the context ends, and they refer to this.
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
    tell(&client_state::ready_waiters_, errc::client_stopped);
    end_all(errc::client_stopped);
    while (!grants_.empty()) {
        auto const held = grants_.front().shared_from_this();
        held->on_client_stopped();
        forget(*held);
        release(
            {.key = held->key(),
             .id = held->id(),
             .until = lease_clock::now() + held->terms().lease,
             .timeout = held->terms().request_timeout,
             .withdrawal = true,
             .handler = {}}
        );
    }
    if (releaser_->idle()) {
        finish_shutdown(true);
        return;
    }
    shutdown_timer_.emplace(strand_);
    sleep_until(*shutdown_timer_, saturating_add(lease_clock::now(), settings_->shutdown_timeout));
    shutdown_timer_->async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && !self->stopped_) {
            self->finish_shutdown(false);
        }
    });
}

void client_state::finish_shutdown(bool all_released) {
    stopped_ = true;
    shutdown_result_ = all_released ? error_code{} : make_error_code(errc::release_unknown);
    releaser_->stop();
    shutdown_timer_.reset();
    keep_alive_timer_.reset();
    rooms_.clear();
    port_->stop();
    tell(&client_state::shutdown_waiters_, shutdown_result_);
}

}  // namespace holdfast::detail
