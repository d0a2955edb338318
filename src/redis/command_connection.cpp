#include "redis/command_connection.hpp"

#include "core/lease_terms.hpp"
#include "runtime/counters.hpp"
#include "runtime/strand.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::detail {

namespace {

// While a node of a cluster owes an answer for so long, another one is asked who has its slots:
// the node may have died, and a replica be about to take over.
constexpr millis silence{300};

}  // namespace

command_connection::command_connection(server_context of, events to)
    : supervisor{std::move(of), connection_id::purpose::commands, std::move(to)},
      timeout_{strand()},
      beside_{strand_of(strand()).inner()} {}

void command_connection::exec(call&& what, exec_handler&& handler) {
    record r{.what = std::move(what), .handler = std::move(handler)};
    exec(r);
}

void command_connection::exec(routed_call&& what) {
    record r{.what = std::move(what.what), .handler = std::move(what.handler)};
    r.give_up_at = what.give_up_at;
    r.asking = what.asking;
    r.redirections = what.redirections;
    exec(r);
}

void command_connection::exec(record& r) {
    if (!usable()) {
        asio::post(strand(), [handler = std::move(r.handler), cause = why_down().cause]() mutable {
            complete(handler, make_result(exec_status::not_sent, cause));
        });
        return;
    }
    r.timeout = r.what->timeout();
    enqueue(r);
}

void command_connection::enqueue(record& r) {
    try {
        append(r);
    } catch (...) {
        // Half a command may stand in the request. It must not be sent.
        open_.reset();
        drop_epoch("a request could not be written");
        throw;
    }
}

void command_connection::append(record& r) {
    if (open_ && open_->full()) {
        flush();
    }
    if (!open_) {
        open_ = spare_.take();
    }
    auto const nonce = next_nonce();
    r.sent_at = lease_clock::now();
    if (r.give_up_at == lease_clock::time_point{}) {
        r.give_up_at = r.sent_at + r.timeout;
    }
    bool const alone = matcher_.empty();
    if (r.what) {
        if (r.asking) {
            add_asking(r);
        }
        open_->add(*r.what, r.by_text, nonce, dialect());
    } else {
        open_->add_check(nonce);
    }
    if (r.by_text) {
        texts_.add(r.what->what());
    }
    ++r.sent;
    count().commands.add();
    arm_timeout(in_cluster() ? std::min(r.give_up_at, r.sent_at + silence) : r.give_up_at);
    if (alone) {
        last_read_ = r.sent_at;
    }
    bool const is_check = !r.what;
    matcher_.on_sent(std::move(r), nonce, is_check);
    flush_soon(alone);
}

void command_connection::add_asking(record const& r) {
    record asking;
    asking.timeout = r.timeout;
    asking.sent_at = r.sent_at;
    asking.give_up_at = r.give_up_at;
    asking.asking = true;
    open_->add_asking();
    count().commands.add();
    matcher_.on_sent(std::move(asking), next_nonce(), true);
}

// The first request leaves at once. What comes while it is under way is collected, also from those
// who wait for their turn beside the strand.
void command_connection::flush_soon(bool alone) {
    if (flush_posted_) {
        return;
    }
    if (alone) {
        flush();
        return;
    }
    auto later = asio::bind_executor(strand(), [self = shared_from_this(), this] {
        flush_posted_ = false;
        flush();
    });
    asio::post(beside_, std::move(later));
    flush_posted_ = true;
}

// Runs while Boost.Redis parses: the reply is put aside, and dealt with in a turn of its own. For
// the only reply of a request that is the turn in which the request completes. What it captures
// fits into `std::function` without an allocation.
template <bool several>
boost::redis::any_adapter command_connection::answers_of(redis_connection const& of) {
    return {[this, raw = &of](
                reply_collector::event what,
                boost::redis::resp3::node_view const& node,
                error_code& ec
            ) {
        // An exception would leave Boost.Redis half way.
        try {
            if (collector_.on_event(what, node) && share_connection().get() == raw) {
                on_reply(several);
            }
        } catch (...) {
            ec = failure_while_parsing();
        }
    }};
}

void command_connection::flush() {
    if (!open_ || !up()) {
        return;
    }
    auto sent = std::move(open_);
    open_.reset();
    auto const connection = share_connection();
    auto answers =
        sent->size() > 1 ? answers_of<true>(*connection) : answers_of<false>(*connection);
    sent->keep({shared_from_this(), connection});
    auto const& request = sent->request();
    connection->async_exec(
        request,
        std::move(answers),
        [this, sent = std::move(sent)](error_code, std::size_t) {
            auto const kept = sent->take_kept();
            spare_.give_back(sent);
            deliver();
        }
    );
}

void command_connection::arm_timeout(lease_clock::time_point at) {
    if (at >= timeout_at_) {
        return;
    }
    sleep_until(timeout_, at);
    timeout_.async_wait([self = shared_from_this(), this](error_code ec) {
        if (!ec) {
            on_timeout();
        }
    });
    timeout_at_ = at;
}

void command_connection::on_timeout() {
    timeout_at_ = lease_clock::time_point::max();
    auto const now = lease_clock::now();
    auto next = lease_clock::time_point::max();
    std::vector<exec_handler> overdue;
    auto const take = [&](record& r) {
        if (r.handler && r.give_up_at <= now) {
            overdue.push_back(std::exchange(r.handler, {}));
        } else if (r.handler) {
            next = std::min(next, r.give_up_at);
        }
    };
    matcher_.for_each_in_flight(take);
    matcher_.for_each_in_doubt(take);
    if (!matcher_.empty() && up()) {
        auto const& oldest = matcher_.next();
        auto const dead_at = *silent_since() + 2 * oldest.timeout;
        if (dead_at <= now) {
            drop_epoch("no answer for two time-outs");
        } else {
            next = std::min(next, dead_at);
        }
    }
    bool const silent = look_for_silence(now, next);
    if (next != lease_clock::time_point::max()) {
        arm_timeout(next);
    }
    if (auto const observer = cluster(); observer && silent) {
        observer->on_silent(number());
    }
    for (auto& handler : overdue) {
        complete(handler, make_result(exec_status::unknown, errc::unreachable));
    }
}

std::optional<lease_clock::time_point> command_connection::silent_since() const {
    if (matcher_.empty()) {
        return {};
    }
    return std::max(matcher_.next().sent_at, last_read_);
}

// `next` is when to look again, at the latest.
bool command_connection::look_for_silence(
    lease_clock::time_point now,
    lease_clock::time_point& next
) {
    if (!in_cluster() || matcher_.empty() || !up()) {
        return false;
    }
    auto const silent_at = *silent_since() + silence;
    bool const silent = silent_at <= now;
    next = std::min(next, silent ? now + silence : silent_at);
    return silent;
}

void command_connection::abandon_all() {
    open_.reset();
    inbox_.clear();
    texts_.clear();
    desynchronised_ = false;
    auto lost = matcher_.end();
    for (auto& one : matcher_.settle()) {
        // The error may have been the reply to another request: it is not reported as permanent.
        bool const permanent = one.error.status == exec_status::failed;
        auto& r = lost.emplace_back(std::move(one.request));
        r.cause = permanent ? make_error_code(errc::unreachable) : one.error.error;
    }
    for (auto& r : lost) {
        complete(r.handler, make_result(exec_status::unknown, r.cause));
    }
}

void command_connection::stop() {
    supervisor::stop();
    timeout_.cancel();
    asio::post(strand(), [self = shared_from_this(), this] { abandon_all(); });
}

void command_connection::on_up() {
    desynchronised_ = false;
}

void command_connection::on_down() {
    abandon_all();
}

// Called while Boost.Redis parses.
void command_connection::on_unsolicited(raw_reply& message) {
    // A reply too many: an earlier reply was taken for another request's.
    if (!message.is_push && !std::exchange(desynchronised_, true)) {
        asio::post(strand(), [self = shared_from_this(), this] {
            if (desynchronised_) {
                desynchronise();
            }
        });
    }
}

}  // namespace holdfast::detail
