#include "redis/supervisor.hpp"

#include "ops/counters.hpp"
#include "redis/endpoint.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr auto awaited = asio::as_tuple(asio::deferred);

}  // namespace

supervisor::supervisor(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count,
    bool for_commands
)
    : strand_{std::move(strand)},
      settings_{std::move(settings)},
      count_{std::move(count)},
      for_commands_{for_commands},
      pause_{strand_},
      backoff_{settings_->reconnect_min, settings_->reconnect_max},
      jitter_{static_cast<std::minstd_rand::result_type>(random_from_system())},
      nonce_{random_from_system()} {}

void supervisor::log(log_level level, std::string_view message) const {
    if (settings_->log) {
        settings_->log(level, message);
    }
}

std::string supervisor::next_nonce() {
    return std::to_string(nonce_++);
}

void supervisor::start() {
    asio::co_spawn(strand_, supervise(shared_from_this()), asio::detached);
}

void supervisor::stop() {
    stopped_ = true;
    pause_.cancel();
    if (connection_) {
        connection_->cancel();
    }
}

void supervisor::drop_epoch(std::string_view why) {
    if (connection_ && !stopped_) {
        connection_->cancel(boost::redis::operation::run);
        log(log_level::warning,
            fmt::format("{} connection dropped: {}", for_commands_ ? "command" : "notice", why));
    }
}

asio::awaitable<void> supervisor::supervise(std::shared_ptr<supervisor> self) {
    auto turn = asio::post(self->strand_, asio::deferred);  // nothing happens inside `start`
    co_await std::move(turn);
    while (!self->stopped_) {
        try {
            auto const endpoint = make_endpoint(*self->settings_);
            self->connect();
            if (self->connection_) {
                // Kept here too: the connection must outlive the run whatever happens to the
                // member.
                auto const connection = self->connection_;
                self->start_probe();
                auto run = connection->async_run(endpoint, awaited);
                auto [ec] = co_await std::move(run);
                self->on_epoch_ended(ec);
            }
        } catch (std::exception const&) {
            // Out of memory, or a log sink that throws: the next epoch may have more luck.
            self->close_epoch();
        }
        if (self->stopped_) {
            break;
        }
        auto const part = std::generate_canonical<double, 32>(self->jitter_);
        self->pause_.expires_after(self->backoff_.next(part));
        auto pause = self->pause_.async_wait(awaited);
        co_await std::move(pause);
    }
}

void supervisor::connect() {
    try {
        connection_ = make_redis_connection(strand_, *settings_);
    } catch (boost::system::system_error const& e) {
        log(log_level::error, fmt::format("TLS cannot be set up: {}", e.what()));
        fail(errc::tls_failed, true);
    }
}

void supervisor::start_probe() {
    probe_failed_ = false;
    auto const connection = connection_;
    boost::redis::any_adapter unsolicited{[this](
                                              reply_collector::event what,
                                              boost::redis::resp3::node_view const& node,
                                              error_code& failed
                                          ) {
        // An exception would leave Boost.Redis half way.
        try {
            if (unsolicited_.on_event(what, node) && !stopped_) {
                on_unsolicited(unsolicited_.current());
            }
        } catch (...) {
            failed = failure_while_parsing();
        }
    }};
    connection->set_receive_response(unsolicited);
    asio::co_spawn(strand_, drain(shared_from_this(), connection), asio::detached);

    auto asked = std::make_shared<probe>(*settings_, for_commands_, next_nonce());
    count_->commands.add(asked->commands());
    boost::redis::any_adapter answers{[asked](
                                          reply_collector::event what,
                                          boost::redis::resp3::node_view const& node,
                                          error_code& failed
                                      ) {
        try {
            asked->on_event(what, node);
        } catch (...) {
            failed = failure_while_parsing();
        }
    }};
    connection->async_exec(
        asked->request(),
        std::move(answers),
        [self = shared_from_this(), connection, asked](error_code ec, std::size_t) {
            self->on_probed(connection, ec, *asked);
        }
    );
}

// Boost.Redis stops reading when 256 messages have not been collected; ours are dealt with as they
// are parsed.
asio::awaitable<void> supervisor::drain(
    std::shared_ptr<supervisor> self,
    std::shared_ptr<redis_connection> connection
) {
    for (;;) {
        auto receive = connection->async_receive2(awaited);
        auto [ec] = co_await std::move(receive);
        if (ec || self->stopped_ || self->connection_ != connection) {
            co_return;
        }
    }
}

void supervisor::on_probed(
    std::shared_ptr<redis_connection> const& connection,
    error_code ec,
    probe const& asked
) {
    if (ec || stopped_ || connection != connection_) {
        return;
    }
    auto const verdict = asked.judge();
    for (auto const& [level, text] : verdict.remarks) {
        log(level, text);
    }
    if (verdict.error) {
        probe_failed_ = true;
        fail(verdict.error, verdict.permanent);
        connection_->cancel(boost::redis::operation::run);
        return;
    }
    if (was_up_) {
        count_->reconnects.add();
    }
    up_ = was_up_ = true;
    failure_ = {};
    up_since_ = lease_clock::now();
    log(log_level::info,
        fmt::format(
            "{} connection to {} is up",
            for_commands_ ? "command" : "notice",
            describe_endpoint(*settings_)
        ));
    on_up();
}

bool supervisor::close_epoch() {
    bool const was_up = std::exchange(up_, false);
    if (connection_) {
        // Ends the loop that drains this connection.
        connection_->cancel();
        connection_.reset();
    }
    if (was_up && !stopped_) {
        // One that lasted is as good as proven.
        if (lease_clock::now() - up_since_ >= settings_->reconnect_max) {
            on_proven();
        }
        on_down();
    }
    return was_up;
}

void supervisor::on_epoch_ended(error_code ec) {
    bool const was_up = close_epoch();
    if (stopped_) {
        return;
    }
    log(was_up ? log_level::warning : log_level::info,
        fmt::format(
            "{} connection to {} ended: {}",
            for_commands_ ? "command" : "notice",
            describe_endpoint(*settings_),
            ec ? ec.message() : "closed"
        ));
    if (!was_up && !probe_failed_) {
        bool const tls = ec.category() == asio::error::get_ssl_category();
        fail(tls ? errc::tls_failed : errc::unreachable, tls);
    }
}

void supervisor::fail(error_code cause, bool permanent) {
    failure_ = permanent ? cause : error_code{};
    if (permanent) {
        on_failure(cause);
    }
}

}  // namespace holdfast::detail
