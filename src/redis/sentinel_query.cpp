#include "redis/sentinel_query.hpp"

#include "core/lease_terms.hpp"
#include "redis/endpoint.hpp"
#include "redis/handshake.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr auto as_ended = asio::as_tuple(asio::deferred);

template <class Number>
bool read_number(std::string_view text, Number& out) {
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
    return ec == std::errc{} && !text.empty() && end == text.data() + text.size();
}

sentinel_query::verdict refused(error_code cause, bool permanent, std::string remark) {
    sentinel_query::verdict made{{}, std::move(remark)};
    made.answer.cause = cause;
    made.answer.permanent = permanent;
    return made;
}

sentinel_query::verdict judge_error(std::string const& text) {
    if (text.find("No such master") != std::string::npos) {
        return refused(errc::unknown_primary, true, "knows no primary of that name");
    }
    auto const said = classify(text);
    bool const permanent = said.what == server_error::effect::permanent;
    return refused(said.error, permanent, "refused the question: " + loggable(text));
}

}  // namespace

sentinel_query::sentinel_query(sentinel_place at, std::string const& primary_name, handler done)
    : at_{std::move(at)},
      done_{std::move(done)},
      timeout_{at_.strand} {
    push_hello(request_, *at_.settings);
    // The one that leads a failover has the new config epoch before it gives the new address in
    // its answer to MASTER.
    request_.push("SENTINEL", "GET-MASTER-ADDR-BY-NAME", primary_name);
    request_.push("SENTINEL", "MASTER", primary_name);
}

sentinel_query::verdict sentinel_query::judge(std::vector<raw_reply> const& replies) {
    if (!replies.empty() && replies[0].is_error) {
        return judge_error(replies[0].error);
    }
    auto const mode = replies.empty() ? std::string_view{} : value_of(replies[0], "mode");
    if (!mode.empty() && mode != "sentinel") {
        return refused(errc::unsupported_server, true, "is no Sentinel");
    }
    // Where it does not say what it is, the reply is one to something else.
    if (replies.size() < 3 || mode.empty()) {
        return refused(errc::unreachable, false, "did not answer");
    }
    auto const& address = replies[1];
    auto const& said = replies[2];
    if (address.is_error || said.is_error) {
        return judge_error(said.is_error ? said.error : address.error);
    }
    sentinel_answer named;
    named.host = address.text(0);
    // A Sentinel that knows no config epoch has seen no failover.
    auto const epoch = value_of(said, "config-epoch");
    bool const numbers = read_number(address.text(1), named.port) &&
                         (epoch.empty() || read_number(epoch, named.config_epoch));
    if (!numbers || named.host.empty() || named.port == 0) {
        return refused(errc::unsupported_server, false, "gave an answer that names no server");
    }
    return {std::move(named), {}};
}

sentinel_query::verdict sentinel_query::judge_end(error_code why) const {
    auto made = judge(answers_->replies);
    if (made.answer.cause == errc::unreachable && why) {
        made.remark = "cannot be asked: " + why.message();
        if (why.category() == asio::error::get_ssl_category()) {
            made.answer.cause = errc::tls_failed;
            made.answer.permanent = true;
        }
    }
    return made;
}

void sentinel_query::start() {
    asio::co_spawn(at_.strand, ask(shared_from_this()), rethrown);
}

void sentinel_query::cancel() noexcept {
    done_ = {};
    timeout_.cancel();
    if (connection_) {
        connection_->cancel();
    }
}

asio::awaitable<void> sentinel_query::ask(std::shared_ptr<sentinel_query> self) {
    error_code why;
    try {
        // Nothing happens inside `start`.
        auto turn = asio::post(self->at_.strand, asio::deferred);
        co_await std::move(turn);
        if (self->done_) {
            auto const endpoint = make_endpoint(*self->at_.settings);
            auto const connection =
                make_redis_connection(self->at_.strand, *self->at_.settings, *self->at_.trust);
            self->connection_ = connection;
            self->arm_timeout();
            self->start_request();
            auto run = connection->async_run(endpoint, as_ended);
            auto const [ended] = co_await std::move(run);
            why = ended;
        }
    } catch (boost::system::system_error const& e) {
        // TLS cannot be set up.
        why = e.code();
    }
    self->finish(why);
}

void sentinel_query::start_request() {
    auto const connection = connection_;
    boost::redis::any_adapter adapter{[into = answers_](
                                          reply_collector::event what,
                                          boost::redis::resp3::node_view const& node,
                                          error_code& failed
                                      ) {
        // An exception would leave Boost.Redis half way.
        try {
            if (into->collector.on_event(what, node)) {
                into->replies.push_back(std::move(into->collector.current()));
            }
        } catch (...) {
            failed = failure_while_parsing();
        }
    }};
    connection->async_exec(
        request_,
        std::move(adapter),
        [self = shared_from_this(), connection](error_code ec, std::size_t) {
            if (!ec) {
                self->finish({});
            }
            connection->cancel();
        }
    );
}

void sentinel_query::arm_timeout() {
    sleep_until(timeout_, lease_clock::now() + connect_timeout_of(*at_.settings));
    timeout_.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && self->connection_) {
            self->connection_->cancel();
        }
    });
}

void sentinel_query::finish(error_code why) {
    if (connection_) {
        connection_->cancel();
        connection_.reset();
    }
    timeout_.cancel();
    if (auto const done = std::exchange(done_, {})) {
        auto const [answer, remark] = judge_end(why);
        done(answer, remark);
    }
}

}  // namespace holdfast::detail
