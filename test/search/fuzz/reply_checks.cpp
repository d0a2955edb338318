#include "fuzz/reply_checks.hpp"

#include "fuzz/check.hpp"
#include "protocol/counted.hpp"
#include "protocol/election.hpp"
#include "protocol/fair_lock.hpp"
#include "protocol/lock.hpp"
#include "protocol/quorum_lock.hpp"
#include "protocol/read_write_lock.hpp"
#include "protocol/reply.hpp"
#include "protocol/semaphore.hpp"

#include <boost/redis/resp3/type.hpp>
#include <boost/system/errc.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace holdfast::fuzz {

namespace {

using boost::redis::resp3::type;
using effect = detail::server_error::effect;

// The number that a text starts with, or 0.
std::int64_t leading_number(std::string_view text) {
    bool const negative = text.starts_with('-');
    text.remove_prefix(negative ? 1 : 0);
    std::uint64_t const longest =
        std::uint64_t{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
    std::uint64_t value = 0;
    for (char const c : text) {
        if (c < '0' || c > '9') {
            break;
        }
        auto const digit = static_cast<std::uint64_t>(c - '0');
        if (value > (longest - digit) / 10) {
            return 0;
        }
        value = value * 10 + digit;
    }
    return static_cast<std::int64_t>(negative ? ~value + 1 : value);
}

bool is_error(type kind) {
    return kind == type::simple_error || kind == type::blob_error;
}

void check_value(detail::reply_value const& value, node_view const& node) {
    if (node.data_type == type::number) {
        auto const* number = std::get_if<std::int64_t>(&value);
        check(number && *number == leading_number(node.value), "a number is read as a number");
    } else {
        auto const* text = std::get_if<std::string>(&value);
        check(text && *text == node.value, "everything else is text");
    }
}

bool starts_with_word(std::string_view text, std::string_view word) {
    return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
}

// What is done next depends on the effect, what the caller is told on the error.
void check_coherent(detail::server_error const& cause) {
    check(cause.error.category() == error_category(), "a cause is one of ours");
    bool const to_mend = cause.what == effect::permanent || cause.what == effect::redirected;
    check(is_retryable(cause.error) == !to_mend, "what passes by itself is worth another try");
    check(
        !cause.wrong_role || cause.what == effect::transient,
        "a replica did not execute the request"
    );
}

bool same(detail::server_error const& a, detail::server_error const& b) {
    return a.what == b.what && a.error == b.error && a.wrong_role == b.wrong_role;
}

void check_classified(std::string const& text) {
    auto const cause = detail::classify(text);
    check_coherent(cause);
    // These are acted upon at once, so nothing but the server's own word will do.
    bool const from_script = text.starts_with("ERR Error ");
    check(
        cause.what != effect::no_script || from_script || starts_with_word(text, "NOSCRIPT"),
        "a request is sent again if the server did not know the script"
    );
    check(
        !cause.wrong_role || from_script || starts_with_word(text, "READONLY"),
        "a replica says so"
    );
    auto const end = text.find(' ');
    auto const word = text.substr(0, end);
    auto const by_word = detail::classify(word);
    if (by_word.what == effect::uncertain) {
        return;
    }
    check(same(cause, by_word), "a code counts for more than the words that follow");
    bool const other_code = std::any_of(
        text.begin() + static_cast<std::ptrdiff_t>(word.size()),
        text.end(),
        [](char c) { return c >= 'A' && c <= 'Z'; }
    );
    if (!other_code && end != std::string::npos) {
        auto const wrapped = "ERR Error running script (call to f_0): @user_script: 1: -" + text;
        check(same(detail::classify(wrapped), by_word), "a code counts within a script too");
    }
}

void check_loggable(std::string const& text) {
    constexpr std::string_view ellipsis = "…";
    auto const shown = detail::loggable(text);
    std::string_view body = shown;
    if (body.ends_with(ellipsis)) {
        body.remove_suffix(ellipsis.size());
    }
    check(
        std::all_of(body.begin(), body.end(), [](char c) { return c >= ' ' && c <= '~'; }),
        "what is logged is printable"
    );
    check(body.size() <= 4 * 256, "what is logged is not too long");
    check(
        detail::loggable(text + ", with args beginning with: 'AUTH' 's3cret'") == shown,
        "arguments that are repeated are not logged"
    );
}

// A text as the reply of each script of a primitive.
void check_meaning(detail::primitive const& of, detail::script_reply const& reply) {
    using namespace std::chrono_literals;
    auto const attempt = of.read_acquire(reply);
    bool const granted = attempt.what == detail::attempt_reply::kind::granted;
    check(
        !attempt.remaining || *attempt.remaining >= 0ms,
        "no answer makes a waiter wait for a time that has passed"
    );
    check(granted || attempt.token.value == 0, "only a grant has a token");
    check(
        attempt.learned.lease >= 0ms && attempt.learned.usual_hold >= 0ns &&
            attempt.learned.usual_hold < 48h,
        "no lease is learned from nonsense"
    );
    check(!attempt.orphan || attempt.endless, "only what has no end is taken over");
    check(of.read_release(reply).window >= 0ms, "nobody has a window that is over");
    static_cast<void>(of.read_renew(reply));
    for (std::size_t i = 0; i < 3; ++i) {
        auto const one_of_many = of.read_renew_many(reply, i);
        check(
            one_of_many != loss_reason::none || reply.text(0).size() > i,
            "what nothing was said about is not renewed"
        );
    }
    auto const found = of.read_inspect(reply);
    check(!found.remaining || *found.remaining >= 0ms, "nothing lasts for less than no time");
    static_cast<void>(of.read_force_release(reply));
}

void check_meanings(detail::script_reply const& reply) {
    for (auto const* const of :
         {&detail::lock_protocol(),
          &detail::fair_lock_protocol(),
          &detail::read_lock_protocol(),
          &detail::write_lock_protocol(),
          &detail::semaphore_protocol(),
          &detail::quorum_lock_protocol()}) {
        check_meaning(*of, reply);
    }
    static_cast<void>(detail::read_look(reply));
    static_cast<void>(detail::read_proclaim(reply));
    static_cast<void>(detail::read_semaphore(reply));
    static_cast<void>(detail::read_set_permits(reply));
    static_cast<void>(detail::read_raise_token(reply));
    for (auto const& on :
         {detail::make_latch_target("", "a"), detail::make_counting_semaphore_target("", "a")}) {
        auto const number = detail::counted::read_number(on, reply);
        check(!number || reply.integer(0) == 1, "nothing that is said to be none is a number");
        auto const success = detail::counted::read_attempt(on, reply);
        check(!success.value_or(false) || reply.has(0), "nothing is granted by an empty answer");
    }
    static_cast<void>(detail::counted::read_request(reply));
    static_cast<void>(detail::counted::read_withdrawal(reply));
}

// A text as what a script returned.
void check_reading(std::string const& line) {
    detail::script_reply const reply{line};
    auto const words = static_cast<std::size_t>(std::count(line.begin(), line.end(), ' '));
    std::string whole{reply.nonce()};
    for (std::size_t i = 0; i < words; ++i) {
        check(reply.rest(i).starts_with(reply.text(i)), "a word is where its rest begins");
        whole += " ";
        whole += reply.text(i);
        auto const word = reply.text(i);
        auto const number = reply.integer(i, 7);
        bool const digits = !word.empty() && word.find_first_not_of("-0123456789") == word.npos;
        check(number == 7 || digits, "what is not a number reads as the neutral one");
    }
    check(whole == line, "no word is left out or made up");
    for (auto const i : {words, words + 1}) {
        check(reply.text(i).empty() && reply.rest(i).empty(), "behind the last word is none");
        check(reply.integer(i, 7) == 7, "what is not there reads as the neutral number");
    }
    check_meanings(reply);
}

void check_conclusions(detail::raw_reply const& reply) {
    if (reply.is_error) {
        check_classified(reply.error);
        check_loggable(reply.error);
    }
    for (auto const& value : reply.values) {
        if (auto const* const text = std::get_if<std::string>(&value)) {
            check_reading(*text);
        }
    }
}

}  // namespace

error_code checked_collector::on_event(parse_event what, node_view const& node) {
    bool done = false;
    auto const failed = failure_in([&] { done = collector_.on_event(what, node); });
    bool const streamed =
        node.data_type == type::streamed_string || node.data_type == type::streamed_string_part;
    bool const deep = boost::redis::resp3::is_aggregate(node.data_type) && node.depth > 3;
    check(
        failed.failed() == (what == parse_event::node && (streamed || deep)),
        "a streamed string is refused, and what lies too deep, and nothing else"
    );
    if (failed) {
        check(failed == boost::system::errc::protocol_error, "what is refused is a wrong protocol");
        return failed;
    }
    check(done == (what == parse_event::done), "a reply is complete when the parser says so");
    switch (what) {
        case parse_event::init: nodes_.clear(); break;
        case parse_event::node: nodes_.push_back(node); break;
        case parse_event::done:
            check_same();
            check_conclusions(collector_.current());
            break;
    }
    return {};
}

void checked_collector::check_same() {
    auto const& reply = collector_.current();
    auto const& values = reply.values;
    std::size_t next = 0;
    bool push = false;
    node_view const* error = nullptr;
    for (auto const& node : nodes_) {
        if (node.data_type == type::push) {
            push = true;
        } else if (is_error(node.data_type)) {
            error = &node;
        } else if (!boost::redis::resp3::is_aggregate(node.data_type)) {
            check(next < values.size(), "no value is left out");
            check_value(values[next], node);
            ++next;
        }
    }
    check(next == values.size(), "no value is made up");
    check(reply.is_push == push, "a message is told from a reply");
    check(reply.is_error == (error != nullptr), "an error is told from a reply");
    check(reply.error == (error ? error->value : std::string_view{}), "an error keeps its text");
}

config checked_probe::settings_from(input& in) {
    config settings;
    settings.database = in.flag() ? 1 : 0;
    settings.password = in.flag() ? "s3cret" : "";
    return settings;
}

checked_probe::checked_probe(input& in)
    : settings_{settings_from(in)},
      for_commands_{in.flag()},
      probe_{settings_, for_commands_, std::string{probe_nonce}} {}

error_code checked_probe::on_event(parse_event what, node_view const& node) {
    auto const failed = failure_in([&] { probe_.on_event(what, node); });
    if (!failed && collector_.on_event(what, node)) {
        ++replies_;
    }
    return failed;
}

void checked_probe::check_verdict() const {
    auto const verdict = probe_.judge();
    bool const complete = replies_ == probe_.commands();
    check(complete || verdict.error, "a server is taken only if it answered everything");
    check(verdict.error || !verdict.permanent, "only a refusal can be permanent");
    check(
        !verdict.permanent || !is_retryable(verdict.error),
        "a permanent cause is not worth another try"
    );
    for (auto const& [level, text] : verdict.remarks) {
        check(text.size() < 1'200, "what is logged is not too long");
        check(text.find('\n') == std::string::npos, "what is logged is one line");
    }
}

}  // namespace holdfast::fuzz
