#include "cli/run/holding.hpp"

#include "cli/exit_code.hpp"
#include "cli/messages.hpp"

#include <holdfast/observer.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <utility>
#include <variant>

namespace holdfast::cli {

using namespace std::chrono_literals;

namespace {

// The one lease of a command is the only one of its client.
class renewal_observer : public observer {
public:
    explicit renewal_observer(run_events& to) : to_{to} {}
    void on_renewal(held_lock const&, std::chrono::nanoseconds) noexcept override {
        to_.put(lease_renewed{});
    }

private:
    run_events& to_;
};

config settings_of(context const& on, run_options const& options, run_events& events) {
    auto settings = on.config;
    settings.observer = std::make_shared<renewal_observer>(events);
    // The time-outs follow from it.
    settings.lease = options.lease;
    settings.shutdown_timeout = std::min<std::chrono::milliseconds>(settings.shutdown_timeout, 2s);
    return settings;
}

run_ending with(exit_code code) {
    return {to_int(code), 0};
}

}  // namespace

holding::holding(
    context const& on,
    run_options const& options,
    asio::any_io_executor const& executor,
    run_events& events
)
    : on_{on},
      options_{options},
      events_{events},
      client_{executor, settings_of(on, options, events)},
      lock_{make_wanted_lock(client_, options)} {}

holding::answer_handler holding::on_answer() {
    return asio::bind_cancellation_slot(
        cancel_.slot(),
        [this](error_code ec, holdfast::lease granted) {
            error_ = ec;
            lease_ = std::move(granted);
            events_.put(answered{});
        }
    );
}

asio::awaitable<void> holding::until_answered() {
    for (bool done = false; !done;) {
        auto const event = co_await events_.next();
        done = std::holds_alternative<answered>(event);
        auto const* const signal = std::get_if<got_signal>(&event);
        if (signal != nullptr && signal->number == SIGTSTP) {
            stop_own_group();
        } else if (signal != nullptr && asks_to_end(signal->number)) {
            interrupted_by_ = signal->number;
            cancel_.emit(asio::cancellation_type::terminal);
        }
    }
}

asio::awaitable<error_code> holding::set_limit() {
    auto const pool = client_.semaphore(std::string_view{options_.name});
    error_code ec;
    auto setting =
        pool.try_set_permits(options_.limit, asio::redirect_error(asio::use_awaitable, ec));
    co_await std::move(setting);
    if (ec == errc::limit_mismatch) {
        say(on_, fmt::format("{} has another number of permits", quoted_name(pool.name())));
    }
    co_return ec;
}

asio::awaitable<std::optional<run_ending>> holding::acquire() {
    acquire_options const how{.lease = options_.lease, .max_hold = options_.max_hold};
    if (options_.limit > 0) {
        error_ = co_await set_limit();
        if (error_) {
            co_return refused();
        }
    }
    // One attempt shows whether there is a server at all: to wait for ever is for a lock that
    // another holder has.
    bool const patient = !options_.wait && !options_.no_wait;
    std::visit(
        [&](auto const& what) {
            if (options_.wait && *options_.wait > 0ms) {
                what.try_acquire_for(*options_.wait, how, on_answer());
            } else {
                what.try_acquire(how, on_answer());
            }
        },
        lock_
    );
    co_await until_answered();
    if (patient && !error_ && !lease_ && interrupted_by_ == 0) {
        std::visit([&](auto const& what) { what.acquire(how, on_answer()); }, lock_);
        co_await until_answered();
    }
    if (interrupted_by_ != 0) {
        co_return ended_by(interrupted_by_);
    }
    if (error_ || !lease_) {
        co_return refused();
    }
    co_return std::nullopt;
}

run_ending holding::refused() {
    if (error_) {
        say(on_,
            fmt::format(
                "cannot acquire {}: {}{}",
                quoted_name(options_.name),
                error_.message(),
                error_ == errc::permits_not_set ? ": use --limit" : ""
            ));
        return with(exit_code_of(error_));
    }
    if (!options_.quiet) {
        say(on_, fmt::format("{} is held by another holder", quoted_name(options_.name)));
    }
    return with(exit_code::busy);
}

void holding::watch() {
    lease_.wait_lost([this](error_code ec, loss_reason why) {
        if (!ec) {
            events_.put(lease_lost{why});
        }
    });
}

asio::awaitable<run_ending> holding::give_back(run_ending command, bool was_lost) {
    error_code ec;
    if (!was_lost) {
        auto releasing = lease_.release(asio::redirect_error(asio::use_awaitable, ec));
        co_await std::move(releasing);
        if (ec == errc::lease_lost) {
            say(on_,
                fmt::format(
                    "{} was lost while the command ran ({})",
                    quoted_name(options_.name),
                    to_string(lease_.loss())
                ));
            was_lost = true;
        } else if (ec) {
            say(on_,
                fmt::format(
                    "{} may be held until its lease ends: {}",
                    quoted_name(options_.name),
                    ec.message()
                ));
        }
    }
    lease_ = {};
    co_await shut_down();
    co_return was_lost ? with(exit_code::lost) : command;
}

asio::awaitable<void> holding::shut_down() {
    error_code ignored;
    lease_ = {};
    auto ending = client_.shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    co_await std::move(ending);
}

}  // namespace holdfast::cli
