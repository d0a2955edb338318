#include "redis/replica_connection.hpp"

#include "core/lease_terms.hpp"
#include "runtime/counters.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace holdfast::detail {

namespace {

// Of one that is to be followed by another for the same requests.
constexpr millis shortest_round{10};

exec_result unanswered(error_code cause) {
    return {exec_status::unknown, cause, {}};
}

}  // namespace

replica_connection::replica_connection(server_context of, events to, granting_since granting)
    : supervisor{std::move(of), connection_id::purpose::replication, std::move(to)},
      granting_since_{std::move(granting)},
      timeout_{strand()} {}

void replica_connection::exec(
    call&& what,
    replication const& wanted,
    replicated_handler&& handler
) {
    exec(replicated_call{
        .what = std::move(what),
        .handler = std::move(handler),
        .count = wanted.count,
        .give_up_at = lease_clock::now() + wanted.timeout,
    });
}

void replica_connection::exec(replicated_call&& what) {
    item made{std::move(what)};
    auto const why = why_down();
    if (stopped() || (!up() && why.permanent)) {
        auto const cause = why.cause ? why.cause : make_error_code(errc::client_stopped);
        answer(made, {exec_status::not_sent, cause, {}}, 0);
        return;
    }
    waiting_.push_back(std::move(made));
    arm();
    start_round_soon();
}

// What comes in one turn is in one round.
void replica_connection::start_round_soon() {
    bool const early = lease_clock::now() < not_before_;
    if (start_posted_ || under_way_ || early || !up() || waiting_.empty()) {
        return;
    }
    asio::post(strand(), [self = shared_from_this(), this] {
        start_posted_ = false;
        start_round();
    });
    start_posted_ = true;
}

void replica_connection::start_round() {
    if (under_way_ || !up() || stopped()) {
        return;
    }
    auto const made = std::make_shared<round>();
    made->all = std::exchange(waiting_, {});
    write(*made);
    if (!made->all.empty()) {
        send(made);
    }
}

// A grant was made where the connection for commands was when it was asked for. By now both may
// lead to another server, which would grant it anew in spite of `config::lock_delay`.
error_code replica_connection::why_not(item const& one) const {
    if (one.said || !one.what.is_attempt()) {
        return {};
    }
    if (one.what.is_withdrawn()) {
        return asio::error::operation_aborted;
    }
    return one.came < granting_since_() ? make_error_code(errc::unreachable) : error_code{};
}

void replica_connection::write(round& made) {
    auto const now = lease_clock::now();
    auto until = now;
    std::erase_if(made.all, [this](item& one) {
        if (auto const cause = why_not(one); one.handler && cause) {
            answer(one, {exec_status::not_sent, cause, {}}, 0);
        }
        return !one.handler;
    });
    for (auto& one : made.all) {
        one.nonce = 0;
        if (!one.said) {
            one.nonce = next_nonce();
            if (one.asking) {
                made.request.push("ASKING");
                ++made.commands;
            }
            push_script(made.request, one.what, one.by_text, one.nonce, dialect(), words_);
            ++made.commands;
        }
        until = std::max(until, one.give_up_at);
        made.count = std::max(made.count, one.count);
    }
    // Zero would be for ever.
    auto const longest = std::max<nanos>(health_check_interval_of(settings()), millis{1});
    auto const time = std::chrono::ceil<millis>(std::clamp<nanos>(until - now, millis{1}, longest));
    made.last_nonce = next_nonce();
    made.request.push("WAIT", std::to_string(made.count), std::to_string(time.count()));
    made.request.push("PING", std::to_string(made.last_nonce));
}

void replica_connection::send(std::shared_ptr<round> const& one) {
    auto const connection = share_connection();
    boost::redis::any_adapter answers{[one](
                                          reply_collector::event what,
                                          boost::redis::resp3::node_view const& node,
                                          error_code& failed
                                      ) {
        // An exception would leave Boost.Redis half way.
        try {
            if (one->collector.on_event(what, node)) {
                one->replies.push_back(std::move(one->collector.current()));
            }
        } catch (...) {
            failed = failure_while_parsing();
        }
    }};
    one->sent_at = lease_clock::now();
    under_way_ = one;
    count().commands.add(one->commands + 2);
    connection->async_exec(
        one->request,
        std::move(answers),
        [self = shared_from_this(), this, connection, one](error_code ec, std::size_t) {
            // Those of a connection that has ended were answered then.
            if (under_way_ == one) {
                under_way_.reset();
                on_end(*one, ec);
            }
        }
    );
}

void replica_connection::on_end(round& ended, error_code ec) {
    if (ec) {
        // The connection has ended.
        answer_all(ended.all, errc::unreachable);
        return;
    }
    if (!is_whole(ended)) {
        answer_all(ended.all, errc::unreachable);
        drop_epoch("an answer does not belong to its request");
        return;
    }
    on_proven();
    read_scripts(ended);
    read_wait(ended);
    arm();
    start_round_soon();
}

// An error reply has no nonce: the last reply proves that each is where it belongs.
bool replica_connection::is_whole(round const& ended) const {
    auto const& replies = ended.replies;
    return replies.size() == ended.commands + 2 && !replies.back().is_error &&
           replies.back().text(0) == std::to_string(ended.last_nonce);
}

void replica_connection::read_scripts(round& ended) {
    auto next = ended.replies.begin();
    for (auto& one : ended.all) {
        if (one.nonce != 0) {
            next += one.asking ? 1 : 0;
            read_script(one, *next++);
        }
    }
}

void replica_connection::read_script(item& of, raw_reply& reply) {
    if (!reply.is_error) {
        script_reply said{std::string{reply.text(0)}};
        if (said.nonce() == std::to_string(of.nonce)) {
            of.said = std::move(said);
        } else {
            answer(of, unanswered(errc::unreachable), 0);
        }
        return;
    }
    auto const cause = classify(reply.error);
    if (cause.what == server_error::effect::no_script && !of.by_text) {
        // It is in the next round, with its text.
        of.by_text = true;
        return;
    }
    if (cause.what == server_error::effect::redirected && redirect(of, reply.error)) {
        return;
    }
    if (auto const observer = cluster(); observer && (cause.wrong_role || cause.cluster_down)) {
        observer->on_doubt(number());
    }
    bool const severe = cause.what == server_error::effect::permanent;
    report_refusal(of.what.what().name, of.what.first_key(), reply.error, severe);
    answer(of, {status_of(cause.what), cause.error, {}}, 0);
}

// It proves that the script did not run: another node has its keys.
bool replica_connection::redirect(item& one, std::string const& text) {
    auto const observer = cluster();
    auto const where = observer ? read_redirection(text) : std::nullopt;
    if (!where || !one.handler) {
        return false;
    }
    replicated_call further{
        .what = std::move(one.what),
        .handler = std::exchange(one.handler, {}),
        .count = one.count,
        .give_up_at = one.give_up_at,
        .redirections = one.redirections,
    };
    observer->on_redirected(number(), *where, std::move(further));
    return true;
}

void replica_connection::read_wait(round& ended) {
    auto const& reply = ended.replies[ended.commands];
    auto const now = lease_clock::now();
    if (reply.is_error) {
        auto const cause = classify(reply.error);
        report_refusal("WAIT", {}, reply.error, true);
        auto const what = status_of(cause.what);
        for (auto& one : ended.all) {
            answer(one, {what, cause.error, {}}, 0);
        }
        return;
    }
    auto const* const number =
        reply.values.empty() ? nullptr : std::get_if<std::int64_t>(&reply.values[0]);
    auto const confirmed = number && *number > 0 ? static_cast<unsigned>(*number) : 0U;
    if (confirmed < ended.count) {
        // A server waits by itself; what answers at once must not be asked again and again.
        not_before_ = ended.sent_at + shortest_round;
    }
    for (auto& one : ended.all) {
        if (one.said && (confirmed >= one.count || one.give_up_at <= now)) {
            answer(one, {exec_status::replied, {}, std::move(*one.said)}, confirmed);
        } else if (one.handler) {
            waiting_.push_back(std::move(one));
        }
    }
}

void replica_connection::answer(item& one, exec_result result, unsigned confirmed) {
    if (one.handler) {
        asio::post(
            strand(),
            [handler = std::exchange(one.handler, {}), result = std::move(result), confirmed](
            ) mutable { std::move(handler)(std::move(result), confirmed); }
        );
    }
}

// A script that has said something may have been executed by a server that is gone.
void replica_connection::answer_all(items& all, error_code cause) {
    for (auto& one : all) {
        answer(one, unanswered(cause), 0);
    }
    all.clear();
}

void replica_connection::on_up() {
    start_round_soon();
}

// What was not sent yet waits for the next connection, as long as it has time.
void replica_connection::on_down() {
    if (auto const broken = std::exchange(under_way_, {})) {
        answer_all(broken->all, errc::unreachable);
    }
    for (auto& one : waiting_) {
        if (one.said) {
            answer(one, unanswered(errc::unreachable), 0);
        }
    }
}

void replica_connection::stop() {
    supervisor::stop();
    timeout_.cancel();
    asio::post(strand(), [self = shared_from_this(), this] {
        if (auto const broken = std::exchange(under_way_, {})) {
            answer_all(broken->all, errc::client_stopped);
        }
        answer_all(waiting_, errc::client_stopped);
    });
}

// Called while Boost.Redis parses.
void replica_connection::on_unsolicited(raw_reply& message) {
    if (!message.is_push) {
        asio::post(strand(), [self = shared_from_this(), this] {
            if (up()) {
                drop_epoch("an answer does not belong to its request");
            }
        });
    }
}

void replica_connection::arm() {
    auto next = lease_clock::time_point::max();
    auto const look = [&next](items const& all) {
        for (auto const& one : all) {
            next = one.handler ? std::min(next, one.give_up_at) : next;
        }
    };
    look(waiting_);
    if (!waiting_.empty() && not_before_ > lease_clock::now()) {
        next = std::min(next, not_before_);
    }
    if (under_way_) {
        look(under_way_->all);
    }
    if (next >= armed_for_) {
        return;
    }
    sleep_until(timeout_, next);
    timeout_.async_wait([self = shared_from_this(), this](error_code ec) {
        if (!ec) {
            armed_for_ = lease_clock::time_point::max();
            on_timeout();
        }
    });
    armed_for_ = next;
}

void replica_connection::on_timeout() {
    auto const now = lease_clock::now();
    auto const why = why_down().cause;
    auto const cause = up() || !why ? make_error_code(errc::not_replicated) : why;
    auto const end = [&](items& all, exec_status otherwise) {
        for (auto& one : all) {
            if (one.handler && one.give_up_at <= now) {
                answer(one, {one.said ? exec_status::unknown : otherwise, cause, {}}, 0);
            }
        }
    };
    end(waiting_, exec_status::not_sent);
    std::erase_if(waiting_, [](item const& one) { return !one.handler; });
    if (under_way_) {
        end(under_way_->all, exec_status::unknown);
    }
    arm();
    start_round_soon();
}

}  // namespace holdfast::detail
