#include "redis/supervisor.hpp"

#include "core/lease_terms.hpp"
#include "redis/cluster_observer.hpp"
#include "redis/endpoint.hpp"
#include "runtime/counters.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr auto awaited = asio::as_tuple(asio::deferred);

}  // namespace

supervisor::supervisor(server_context of, connection_id::purpose what, events to)
    : of_{std::move(of)},
      id_{.what = what, .server = of_.number, .epoch = 0},
      to_{std::move(to)},
      pause_{of_.strand},
      backoff_{of_.settings->reconnect_min, of_.settings->reconnect_max},
      jitter_{static_cast<std::minstd_rand::result_type>(random_from_system())},
      // So few digits that a nonce needs no memory of its own in a string.
      nonce_{random_from_system() % 10'000'000'000'000} {}

std::string_view supervisor::name() const noexcept {
    using kind = connection_id::purpose;
    if (of_.with == handshake::peer::sentinel) {
        return "Sentinel";
    }
    switch (id_.what) {
        case kind::commands: return "command";
        case kind::subscriptions: return "subscription";
        case kind::replication: break;
    }
    return "replica-waiting";
}

// What the connection has to say about itself. The connections of an address have their causes in
// common: if one cannot be made, a second line would add nothing.
void supervisor::say(log_level level, std::string_view what) {
    auto const place = describe_endpoint(*at_);
    last_said_ = fmt::format("{} connection to {} {}", name(), place, what);
    of_.log->write(level, what, place, last_said_);
}

void supervisor::report_refusal(
    std::string_view what,
    std::string_view key,
    std::string_view error,
    bool permanent
) {
    auto const why = loggable(error);
    if (to_.refused) {
        to_.refused({permanent, what, key, why});
    } else {
        auto const level = permanent ? log_level::error : log_level::warning;
        say(level, fmt::format("was refused {}: {}", what, why));
    }
}

void supervisor::start() {
    spawn(true);
}

// An exception, such as one of a log sink, leaves the function that runs the executor. The next
// epoch is begun all the same.
void supervisor::spawn(bool first) {
    auto on_end = [self = shared_from_this()](std::exception_ptr failure) {
        if (failure) {
            self->spawn(false);
            self->close_epoch();
            std::rethrow_exception(failure);
        }
    };
    asio::co_spawn(of_.strand, supervise(shared_from_this(), first), std::move(on_end));
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
        say(log_level::warning, fmt::format("dropped: {}", why));
    }
}

void supervisor::move_to(config const& there) {
    if (stopped_) {
        return;
    }
    if (at_->host != there.host || at_->port != there.port) {
        drop_epoch("the server is now " + describe_endpoint(there));
    }
    backoff_.reset();
    pause_.cancel();
}

bool supervisor::accept(address_source::answer found) {
    if (!found.settings) {
        last_said_ = std::move(found.text);
        fail(found.cause, found.permanent);
        return false;
    }
    at_ = std::move(found.settings);
    version_ = found.version;
    return true;
}

asio::awaitable<void> supervisor::supervise(std::shared_ptr<supervisor> self, bool first) {
    while (!self->stopped_) {
        if (std::exchange(first, false)) {
            // Nothing happens inside `start`.
            auto turn = asio::post(self->of_.strand, asio::deferred);
            co_await std::move(turn);
        } else {
            auto const part = std::generate_canonical<double, 32>(self->jitter_);
            self->pause_.expires_after(self->backoff_.next(part));
            auto pause = self->pause_.async_wait(awaited);
            co_await std::move(pause);
        }
        if (self->stopped_) {
            break;
        }
        if (self->of_.source) {
            auto finding = self->of_.source->find();
            auto found = co_await std::move(finding);
            if (self->stopped_ || !self->accept(std::move(found))) {
                continue;
            }
        }
        auto const endpoint = make_endpoint(*self->at_);
        self->connect();
        if (self->connection_) {
            // Kept here too: the connection must outlive the run whatever happens to the member.
            auto const connection = self->connection_;
            self->start_handshake();
            auto run = connection->async_run(endpoint, awaited);
            auto [ec] = co_await std::move(run);
            self->on_epoch_ended(ec);
        }
    }
}

void supervisor::connect() {
    ++id_.epoch;
    last_said_.clear();
    try {
        connection_ = make_redis_connection(of_.strand, *at_, *of_.trust);
    } catch (boost::system::system_error const& e) {
        say(log_level::error, fmt::format("cannot be made: TLS cannot be set up: {}", e.what()));
        fail(errc::tls_failed, true);
    }
}

// What answers no request.
void supervisor::listen() {
    boost::redis::any_adapter unsolicited{[this](
                                              reply_collector::event what,
                                              boost::redis::resp3::node_view const& node,
                                              error_code& failed
                                          ) {
        // An exception would leave Boost.Redis half way.
        try {
            if (!unsolicited_.on_event(what, node)) {
                return;
            }
            if (!stopped_) {
                on_unsolicited(unsolicited_.current());
            }
            collect();
        } catch (...) {
            failed = failure_while_parsing();
        }
    }};
    connection_->set_receive_response(unsolicited);
    uncollected_ = 0;
}

// Boost.Redis stops reading when 256 messages have not been collected. Ours are dealt with as they
// are parsed. To collect each by itself would delay what follows from it.
void supervisor::collect() {
    constexpr int many = 64;
    if (++uncollected_ < many || !connection_) {
        return;
    }
    uncollected_ = 0;
    connection_->async_receive2([connection = connection_](error_code) {});
}

void supervisor::start_handshake() {
    listen();
    auto const asked = std::make_shared<handshake>(
        *at_,
        id_.what == connection_id::purpose::commands,
        std::to_string(next_nonce()),
        of_.with
    );
    handshake_ = asked;
    count().commands.add(asked->commands());
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
    auto const connection = connection_;
    connection->async_exec(
        asked->request(),
        std::move(answers),
        [self = shared_from_this(), connection, asked](error_code ec, std::size_t) {
            self->on_handshake(connection, ec);
        }
    );
}

// Before Redis 7 a Sentinel refuses the PING of Boost.Redis, which has an argument, and the error
// would end the connection. Boost.Redis sends none while other commands leave. The timer is free as
// long as the epoch lasts; its end, or the next pause, ends the wait.
asio::awaitable<void> supervisor::ping_sentinel(
    std::shared_ptr<supervisor> self,
    std::shared_ptr<redis_connection> connection
) {
    boost::redis::request ping;
    ping.push("PING");
    auto const goes_on = [&] { return !self->stopped_ && self->connection_ == connection; };
    while (goes_on()) {
        self->pause_.expires_after(health_check_interval_of(self->settings()) / 2);
        auto pause = self->pause_.async_wait(awaited);
        co_await std::move(pause);
        if (goes_on()) {
            auto exec = connection->async_exec(ping, boost::redis::any_adapter{}, awaited);
            co_await std::move(exec);
        }
    }
}

void supervisor::on_handshake(std::shared_ptr<redis_connection> const& connection, error_code ec) {
    // A connection that ended is judged where its end is dealt with.
    if (ec || stopped_ || connection != connection_) {
        return;
    }
    try {
        auto verdict = judge_handshake();
        // mutant: traffic-before-the-handshake
        if (!verdict.error) {
            on_connected(std::move(verdict));
            return;
        }
        fail(verdict.error, verdict.permanent);
    } catch (...) {
        // A log sink has thrown, perhaps. Some may not have been told that the connection is up.
        connection->cancel(boost::redis::operation::run);
        throw;
    }
    connection->cancel(boost::redis::operation::run);
}

// What came of the handshake, as far as it got.
handshake::verdict supervisor::judge_handshake() {
    auto const asked = std::exchange(handshake_, {});
    auto verdict = asked->judge();
    for (auto const& [level, text] : verdict.remarks) {
        say(level, text);
    }
    if (auto const observer = cluster(); observer && !verdict.slots.empty()) {
        observer->on_slots(id_.server, script_reply{std::move(verdict.slots)});
    }
    return verdict;
}

script_dialect supervisor::dialect_of(int major_version) const noexcept {
    // The first one with sharded channels.
    constexpr int sharding_version = 7;
    if (of_.with != handshake::peer::cluster_node) {
        return script_dialect::single;
    }
    switch (of_.settings->cluster_channels) {
        case cluster_channel_kind::sharded: return script_dialect::sharded;
        case cluster_channel_kind::plain: return script_dialect::cluster;
        case cluster_channel_kind::automatic: break;
    }
    return major_version >= sharding_version ? script_dialect::sharded : script_dialect::cluster;
}

void supervisor::on_connected(handshake::verdict&& passed) {
    if (was_up_) {
        count().reconnects.add();
    }
    up_ = was_up_ = true;
    obstacle_ = {};
    run_id_ = std::move(passed.run_id);
    dialect_ = dialect_of(passed.major_version);
    up_since_ = lease_clock::now();
    // Servers count from the beginning of a second, and to that of another.
    auto const least = passed.uptime.value_or(std::chrono::seconds{0}) - std::chrono::seconds{1};
    began_by_ = up_since_ - std::max(least, std::chrono::seconds{0});
    of_.log->reset();
    say(log_level::info, "is up");
    constexpr int takes_every_ping = 7;
    if (of_.with == handshake::peer::sentinel && passed.major_version < takes_every_ping) {
        asio::co_spawn(of_.strand, ping_sentinel(shared_from_this(), connection_), rethrown);
    }
    on_up();
    if (to_.up) {
        to_.up(id_);
    }
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
        if (lease_clock::now() - up_since_ >= of_.settings->reconnect_max) {
            on_proven();
        }
        if (to_.down) {
            to_.down(id_);
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
    auto const why = ec ? ec.message() : "closed";
    if (was_up) {
        say(log_level::warning, fmt::format("ended: {}", why));
        fail(errc::unreachable, false);
        return;
    }
    if (!handshake_) {
        return;  // the server has said why
    }
    bool const unanswered = handshake_->unanswered();
    auto const verdict = judge_handshake();
    if (verdict.error && verdict.error != errc::unreachable) {
        fail(verdict.error, verdict.permanent);
        return;
    }
    bool const tls = ec.category() == asio::error::get_ssl_category();
    if (is_closed_by_peer(ec) && obstacle_.cause == errc::server_refused) {
        // A server that turns clients away may close the connection before its reason is read.
        say(log_level::warning, fmt::format("cannot be made: {}", why));
        return;
    }
    if (is_closed_by_peer(ec) && unanswered) {
        say(log_level::error,
            fmt::format(
                "cannot be made: {}: it is a proxy that does not know HELLO, such as twemproxy, or "
                "wants TLS, or has no server behind it",
                closed_upon_hello
            ));
    } else {
        say(log_level::warning, fmt::format("cannot be made: {}", why));
    }
    fail(tls ? errc::tls_failed : errc::unreachable, tls);
}

void supervisor::fail(error_code cause, bool permanent) {
    obstacle_ = {cause, permanent};
    if (to_.unconnected) {
        to_.unconnected(id_, cause, last_said_.empty() ? cause.message() : last_said_);
    }
    if (permanent && to_.failure) {
        to_.failure(id_, cause);
    }
}

}  // namespace holdfast::detail
