#include "redis/command_link.hpp"

#include "core/lease_terms.hpp"
#include "ops/counters.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr std::size_t spare_batches = 4;

void complete(exec_handler& handler, exec_result result) {
    if (handler) {
        std::exchange(handler, {})(std::move(result));
    }
}

exec_result make_result(exec_status status, error_code cause, bool sent_again = false) {
    return {status, cause, {}, sent_again};
}

}  // namespace

struct command_link::batch {
    boost::redis::request request;
    std::size_t size = 0;
    std::vector<std::string_view> words;
};

command_link::command_link(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count,
    events to
)
    : supervisor{std::move(strand), std::move(settings), std::move(count), true},
      to_{std::move(to)},
      timeout_{this->strand()} {}

void command_link::exec(
    script const& what,
    boost::span<std::string_view const> keys,
    boost::span<std::string_view const> args,
    std::chrono::nanoseconds timeout,
    exec_handler handler
) {
    if (!usable()) {
        asio::post(strand(), [handler = std::move(handler), cause = failure()]() mutable {
            complete(handler, make_result(exec_status::not_sent, cause));
        });
        return;
    }
    record r;
    r.what = &what;
    r.keys = keys.size();
    auto const pack = [&r](std::string_view word) {
        r.packed += word;
        r.ends.push_back(static_cast<std::uint32_t>(r.packed.size()));
    };
    r.ends.reserve(keys.size() + args.size());
    for (auto const key : keys) {
        pack(key);
    }
    for (auto const arg : args) {
        pack(arg);
    }
    r.timeout = timeout;
    r.handler = std::move(handler);
    enqueue(std::move(r));
}

void command_link::enqueue(record r) {
    try {
        append(std::move(r));
    } catch (...) {
        // Out of memory: half a command may stand in the request.
        open_.reset();
        drop_epoch("out of memory");
        throw;
    }
}

void command_link::append(record r) {
    if (!open_) {
        if (spare_.empty()) {
            open_ = std::make_shared<batch>();
        } else {
            open_ = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    r.nonce = next_nonce();
    r.sent_at = lease_clock::now();
    if (!r.sent_again) {
        r.give_up_at = r.sent_at + r.timeout;
    }
    if (!r.what) {
        open_->request.push("PING", r.nonce);
    } else {
        char key_count[8];
        auto const end = std::to_chars(key_count, key_count + sizeof key_count, r.keys).ptr;
        auto& words = open_->words;
        words.clear();
        words.push_back(r.sent_again ? r.what->text : r.what->sha1);
        words.emplace_back(key_count, static_cast<std::size_t>(end - key_count));
        std::uint32_t begin = 0;
        for (auto const stop : r.ends) {
            words.emplace_back(r.packed.data() + begin, stop - begin);
            begin = stop;
        }
        words.push_back(r.nonce);
        open_->request.push_range(r.sent_again ? "EVAL" : "EVALSHA", words);
    }
    ++open_->size;
    count().commands.add();
    arm_timeout(r.give_up_at);
    bool const alone = in_flight_.empty();
    if (alone) {
        last_read_ = r.sent_at;
    }
    in_flight_.push_back(std::move(r));
    if (flush_posted_) {
        return;
    }
    if (alone) {
        flush();
    } else {
        asio::post(strand(), [self = shared_from_this(), this] {
            flush_posted_ = false;
            flush();
        });
        flush_posted_ = true;
    }
}

void command_link::flush() {
    if (!open_ || !up()) {
        return;
    }
    auto sent = std::move(open_);
    open_.reset();
    auto const connection = share_connection();
    // Runs while Boost.Redis parses: the answer is put aside, and dealt with in a turn of its own.
    // For the only answer of a request that is the turn in which the request completes.
    boost::redis::any_adapter answers{[this, raw = connection.get(), several = sent->size > 1](
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
    auto& request = sent->request;
    connection->async_exec(
        request,
        std::move(answers),
        [self = shared_from_this(), this, connection, sent](error_code, std::size_t) {
            if (spare_.size() < spare_batches) {
                sent->request.clear();
                sent->size = 0;
                spare_.push_back(sent);
            }
            deliver();
        }
    );
}

void command_link::on_reply(bool more_to_come) {
    inbox_.push_back(std::move(collector_.current()));
    if (more_to_come && !deliver_posted_) {
        asio::post(strand(), [self = shared_from_this(), this] {
            deliver_posted_ = false;
            deliver();
        });
        deliver_posted_ = true;
    }
}

void command_link::deliver() {
    if (!inbox_.empty()) {
        last_read_ = lease_clock::now();
    }
    while (!inbox_.empty() && !poisoned_) {
        auto reply = std::move(inbox_.front());
        inbox_.pop_front();
        if (in_flight_.empty()) {
            poison();
            return;
        }
        auto r = std::move(in_flight_.front());
        in_flight_.pop_front();
        answer(std::move(r), std::move(reply));
    }
}

void command_link::answer(record r, raw_reply reply) {
    if (reply.is_error) {
        on_error_reply(std::move(r), reply.error);
        return;
    }
    auto& values = reply.content.values;
    if (reply.content.text(0) != r.nonce) {
        // Somebody else's answer: nothing that was or will be read here can be trusted.
        in_flight_.push_front(std::move(r));
        poison();
        return;
    }
    on_proven();
    on_nonce_seen();
    if (r.handler) {
        values.erase(values.begin());
        complete(r.handler, {exec_status::replied, {}, std::move(reply.content), r.sent_again});
    }
}

void command_link::on_error_reply(record r, std::string const& text) {
    using effect = server_error::effect;
    auto const cause = classify(text);
    if (!r.what) {
        // The check itself was refused, so nothing is proven about the errors before it.
        for (auto& d : std::exchange(doubtful_, {})) {
            complete(d.handler, make_result(exec_status::unknown, d.result.error));
        }
        return;
    }
    if (cause.what == effect::no_script && r.handler) {
        r.sent_again = true;
        enqueue(std::move(r));
        return;
    }
    log(cause.what == effect::permanent ? log_level::error : log_level::warning,
        std::string("the server refused ") + std::string(r.what->name) + ": " + loggable(text));
    auto const status = cause.what == effect::permanent   ? exec_status::failed
                        : cause.what == effect::uncertain ? exec_status::unknown
                                                          : exec_status::refused;
    bool const overdue = !r.handler;
    doubtful_.push_back({std::move(r.handler), make_result(status, cause.error), r.give_up_at});
    check_alignment(overdue);
    if (cause.wrong_role) {
        drop_epoch("the server has become a replica");
    }
}

// The next answer with a nonce tells whether an error was for the request it was taken for. If none
// is to be expected, one is asked for; also if the error came for a request that had been given up:
// when an answer is missing, each request may be refused in the name of the one before it for ever.
void command_link::check_alignment(bool overdue) {
    if (in_flight_.empty() || (overdue && in_flight_.back().what)) {
        record check;
        check.timeout = request_timeout_for(settings(), settings().lease);
        enqueue(std::move(check));
    }
}

void command_link::on_nonce_seen() {
    if (doubtful_.empty()) {
        return;
    }
    for (auto& d : std::exchange(doubtful_, {})) {
        complete(d.handler, std::move(d.result));
    }
}

void command_link::poison() {
    poisoned_ = true;
    drop_epoch("an answer does not belong to its request");
}

void command_link::arm_timeout(lease_clock::time_point at) {
    if (at >= timeout_at_) {
        return;
    }
    timeout_at_ = at;
    sleep_until(timeout_, at);
    timeout_.async_wait([self = shared_from_this(), this](error_code ec) {
        if (!ec) {
            on_timeout();
        }
    });
}

void command_link::on_timeout() {
    timeout_at_ = lease_clock::time_point::max();
    auto const now = lease_clock::now();
    auto next = lease_clock::time_point::max();
    std::vector<record> overdue;
    for (auto& r : in_flight_) {
        if (r.handler && r.give_up_at <= now) {
            overdue.emplace_back().handler = std::exchange(r.handler, {});
            overdue.back().sent_again = r.sent_again;
        } else if (r.handler) {
            next = std::min(next, r.give_up_at);
        }
    }
    for (auto& d : doubtful_) {
        if (d.handler && d.give_up_at <= now) {
            overdue.emplace_back().handler = std::exchange(d.handler, {});
        } else if (d.handler) {
            next = std::min(next, d.give_up_at);
        }
    }
    if (!in_flight_.empty() && up()) {
        auto const& oldest = in_flight_.front();
        auto const silent_since = std::max(oldest.sent_at, last_read_);
        auto const dead_at = silent_since + 2 * oldest.timeout;
        if (dead_at <= now) {
            drop_epoch("no answer for two time-outs");
        } else {
            next = std::min(next, dead_at);
        }
    }
    if (next != lease_clock::time_point::max()) {
        arm_timeout(next);
    }
    for (auto& r : overdue) {
        complete(r.handler, make_result(exec_status::unknown, errc::unreachable, r.sent_again));
    }
}

void command_link::abandon_all() {
    open_.reset();
    inbox_.clear();
    poisoned_ = false;
    auto lost = std::exchange(in_flight_, {});
    auto doubts = std::exchange(doubtful_, {});
    for (auto& d : doubts) {
        // It may have been the answer to something else: nobody is sent to mend what is well.
        bool const to_be_mended = d.result.status == exec_status::failed;
        auto const cause = to_be_mended ? make_error_code(errc::unreachable) : d.result.error;
        complete(d.handler, make_result(exec_status::unknown, cause));
    }
    for (auto& r : lost) {
        complete(r.handler, make_result(exec_status::unknown, errc::unreachable, r.sent_again));
    }
}

void command_link::stop_link() {
    stop();
    timeout_.cancel();
    auto self = shared_from_this();
    asio::post(strand(), [self, this] { abandon_all(); });
}

void command_link::on_up() {
    poisoned_ = false;
    to_.up();
}

void command_link::on_down() {
    to_.down();
    abandon_all();
}

void command_link::on_failure(error_code cause) {
    to_.failure(cause);
}

// Called while Boost.Redis parses.
void command_link::on_unsolicited(raw_reply& message) {
    // A reply too many: somebody's answer was taken for another one's.
    if (!message.is_push && !std::exchange(poisoned_, true)) {
        asio::post(strand(), [self = shared_from_this(), this] {
            if (poisoned_) {
                poison();
            }
        });
    }
}

}  // namespace holdfast::detail
