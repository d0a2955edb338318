#include "cli/server_session.hpp"

#include "core/lease_terms.hpp"
#include "redis/endpoint.hpp"
#include "redis/handshake.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/redis/error.hpp>
#include <boost/system/system_error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

namespace holdfast::cli {

namespace asio = boost::asio;
using detail::raw_reply;

namespace {

constexpr auto as_ended = asio::as_tuple(asio::deferred);

std::chrono::milliseconds in_millis(std::chrono::nanoseconds time) {
    return std::chrono::ceil<std::chrono::milliseconds>(time);
}

std::chrono::nanoseconds request_timeout_of(config const& settings) {
    return detail::request_timeout_for(settings, settings.lease);
}

}  // namespace

/// The replies to one request, as they come.
struct server_session::conversation {
    detail::reply_collector collector;
    std::vector<raw_reply> replies;
};

server_session::server_session(
    asio::any_io_executor executor,
    std::shared_ptr<config const> settings,
    detail::tls_trust& trust
)
    : settings_{std::move(settings)},
      connection_{detail::make_redis_connection(executor, *settings_, trust)},
      timeout_{executor} {}

server_session::~server_session() {
    connection_->cancel();
}

asio::awaitable<server_session::opening> server_session::open(
    asio::any_io_executor executor,
    std::shared_ptr<config const> settings,
    std::shared_ptr<detail::tls_trust> trust
) {
    opening made;
    try {
        made.session = std::make_shared<server_session>(executor, settings, *trust);
    } catch (boost::system::system_error const& e) {
        made.cause = errc::tls_failed;
        made.why = fmt::format("TLS cannot be set up: {}", e.what());
        co_return made;
    }
    made.session->start();
    boost::redis::request hello;
    detail::push_hello(hello, *settings);
    std::size_t expected = 1;
    if (settings->database != 0) {
        hello.push("SELECT", std::to_string(settings->database));
        ++expected;
    }
    // The name is resolved, the connection made and TLS begun in so many steps.
    auto const connect = 3 * detail::connect_timeout_of(*settings);
    auto exchange = made.session->exchange(hello, connect + request_timeout_of(*settings));
    auto const got = co_await std::move(exchange);
    auto said = judge(got.replies, expected, got.ended);
    made.session->server_ = std::move(said.server);
    made.cause = said.cause;
    made.why = std::move(said.why);
    if (made.cause) {
        made.session.reset();
    }
    co_return made;
}

detail::script_dialect server_session::dialect() const noexcept {
    constexpr int sharding_version = 7;
    auto const wanted = settings_->cluster_channels;
    if (server_.mode != "cluster") {
        return detail::script_dialect::single;
    }
    bool const sharded =
        wanted == cluster_channel_kind::sharded ||
        (wanted == cluster_channel_kind::automatic && server_.major >= sharding_version);
    return sharded ? detail::script_dialect::sharded : detail::script_dialect::cluster;
}

void server_session::start() {
    auto const endpoint = std::make_shared<boost::redis::config>(detail::make_endpoint(*settings_));
    connection_->async_run(
        *endpoint,
        [connection = connection_, endpoint, ended = ended_](error_code ec) {
            if (!*ended) {
                *ended = ec ? ec : make_error_code(errc::unreachable);
            }
            connection->cancel();
        }
    );
}

asio::awaitable<server_session::outcome> server_session::exchange(
    boost::redis::request const& what,
    std::chrono::nanoseconds limit
) {
    if (*ended_) {
        co_return outcome{*ended_, {}};
    }
    auto const talk = std::make_shared<conversation>();
    boost::redis::any_adapter adapter{[talk](
                                          detail::reply_collector::event event,
                                          boost::redis::resp3::node_view const& node,
                                          error_code& failed
                                      ) {
        // An exception would leave Boost.Redis half way.
        try {
            if (talk->collector.on_event(event, node)) {
                talk->replies.push_back(std::move(talk->collector.current()));
            }
        } catch (...) {
            failed = detail::failure_while_parsing();
        }
    }};
    timeout_.expires_after(in_millis(limit));
    timeout_.async_wait([connection = connection_, ended = ended_](error_code ec) {
        if (!ec && !*ended) {
            *ended = asio::error::timed_out;
            connection->cancel();
        }
    });
    auto exec = connection_->async_exec(what, std::move(adapter), as_ended);
    auto const [ec, size] = co_await std::move(exec);
    timeout_.cancel();
    if (ec && !*ended_) {
        *ended_ = ec;
        connection_->cancel();
    }
    co_return outcome{ec ? *ended_ : error_code{}, std::move(talk->replies)};
}

asio::awaitable<std::vector<raw_reply>> server_session::ask(boost::redis::request const& what) {
    auto exchanged = exchange(what, request_timeout_of(*settings_));
    auto got = co_await std::move(exchanged);
    if (got.ended) {
        throw boost::system::system_error{got.ended};
    }
    co_return std::move(got.replies);
}

server_session::verdict server_session::judge(
    std::vector<raw_reply> const& replies,
    std::size_t expected,
    error_code ended
) {
    verdict said;
    for (auto const& reply : replies) {
        if (reply.is_error) {
            auto const what = detail::classify(reply.error);
            said.cause = what.error;
            said.why = detail::loggable(reply.error);
            return said;
        }
    }
    if (ended || replies.size() < expected) {
        bool const tls = ended.category() == asio::error::get_ssl_category();
        said.cause = tls ? errc::tls_failed : errc::unreachable;
        // Boost.Redis notices silence, too.
        bool const silent =
            ended == asio::error::timed_out || ended == boost::redis::error::pong_timeout;
        bool const closed = replies.empty() && detail::is_closed_by_peer(ended);
        said.why = silent   ? "no answer in time"
                   : closed ? std::string{detail::closed_upon_hello}
                   : ended  ? ended.message()
                            : "no answer";
        return said;
    }
    auto const& hello = replies.front();
    said.server.version = detail::value_of(hello, "version");
    said.server.mode = detail::value_of(hello, "mode");
    said.server.role = detail::value_of(hello, "role");
    auto const& version = said.server.version;
    std::from_chars(version.data(), version.data() + version.size(), said.server.major);
    return said;
}

}  // namespace holdfast::cli
