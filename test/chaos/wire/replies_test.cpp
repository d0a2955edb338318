// What the server says is not what was asked: answers are inserted, lost, repeated, overtaken and
// exchanged, on both connections. Whatever comes of it, nobody holds a lock that is not theirs.
//
// HOLDFAST_WIRE=full runs all of them, otherwise it is every n-th. The start and the order are
// drawn: HOLDFAST_WIRE_SEED sets them. HOLDFAST_WIRE_ONLY names one step of the scenario.

#include "support/run.hpp"
#include "wire/campaign.hpp"
#include "wire/plan.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

#ifdef HOLDFAST_TEST_SANITIZER
constexpr int lanes = 12;
constexpr auto timeout = 400ms;
constexpr std::size_t stride = 61;
#else
constexpr int lanes = 24;
constexpr auto timeout = 200ms;
constexpr std::size_t stride = 17;
#endif
constexpr auto bound = 10s;

// A lie can cost a lock as long as that, and a lost notification the wait for it.
constexpr auto lease = 3s;
constexpr auto fallback = 300ms;

constexpr std::string_view granted_to_another = "$38\r\n1234567890123456789 1 1700000000000001\r\n";

constexpr std::array<std::string_view, 10> errors{
    "-ERR inserted\r\n",
    "-NOSCRIPT No matching script. Please use EVAL.\r\n",
    "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    "-READONLY You can't write against a read only replica.\r\n",
    "-BUSY Redis is busy running a script.\r\n",
    "-LOADING Redis is loading the dataset in memory\r\n",
    "-NOAUTH Authentication required.\r\n",
    "-NOPERM this user has no permissions to access one of the channels used as arguments\r\n",
    "!21\r\nSYNTAX invalid syntax\r\n",
};

// Answers that no command of a client has.
constexpr std::array<std::string_view, 10> odd_replies{
    "+OK\r\n",
    ":1\r\n",
    "_\r\n",
    "#t\r\n",
    ",1.5\r\n",
    "*0\r\n",
    "$0\r\n\r\n",
    "%1\r\n+a\r\n:1\r\n",
    "=7\r\ntxt:abc\r\n",
    "*2\r\n*1\r\n:1\r\n$0\r\n\r\n",
};

constexpr std::array<std::string_view, 5> pushes{
    ">3\r\n$7\r\nmessage\r\n$28\r\nredisson_lock__channel:{zzz}\r\n$1\r\n0\r\n",
    ">3\r\n$9\r\nsubscribe\r\n$28\r\nredisson_lock__channel:{zzz}\r\n:1\r\n",
    ">3\r\n$11\r\nunsubscribe\r\n$28\r\nredisson_lock__channel:{zzz}\r\n:0\r\n",
    ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n",
    ">3\r\n$19\r\n1234567890123456789\r\n:1\r\n:1700000000000001\r\n",
};

enum class place { before, behind, instead };

std::string_view name_of(place where) {
    return where == place::before ? "before it" : where == place::behind ? "behind it" : "instead";
}

// On one line.
std::string printable(std::string_view message) {
    std::string text{message};
    std::erase(text, '\r');
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

disturbance inserted(std::string_view what, place where, std::string_view kind) {
    disturbance made;
    made.name = fmt::format("{} {} {}", kind, printable(what), name_of(where));
    made.rewrite = [text = std::string{what}, where](std::string const& message) {
        switch (where) {
            case place::before: return message_parts{text, message};
            case place::behind: return message_parts{message, text};
            case place::instead: break;
        }
        return message_parts{text};
    };
    return made;
}

// The nonce of a script's answer stands first in it.
std::string with_other_nonce(std::string message, std::int64_t difference) {
    auto const begin = message.find("\r\n") + 2;
    auto const end = message.find_first_of(" \r", begin);
    auto const nonce = std::stoull(message.substr(begin, end - begin));
    auto const other = std::to_string(nonce + static_cast<std::uint64_t>(difference));
    auto const text = other + message.substr(end);
    return "$" + std::to_string(text.size() - 2) + "\r\n" + text;
}

bool has_nonce(message_kind kind) {
    using enum message_kind;
    constexpr std::array
        kinds{probe_ping, acquire, eval, check, renew, release, inspect, force_release};
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool is_of_probe(message_kind kind) {
    return kind <= message_kind::info;
}

using case_of = campaign::wire_case;

// NOSCRIPT means that nothing was done, and is the one answer after which a request is repeated as
// it is. To free whoever has the lock by then is what `force_release` was asked for.
bool proves_too_much(step const& where, std::string_view error) {
    return where.message == message_kind::force_release && error.starts_with("-NOSCRIPT");
}

// The same while other requests are under way. All of them have been sent before the answer comes,
// and what is behind it comes later.
disturbance crowded(disturbance what) {
    what.crowded = true;
    if (what.rewrite) {
        what.stall = disturbance::end::soon;
        what.rewrite = [rewrite = std::move(what.rewrite)](std::string const& message) {
            auto parts = rewrite(message);
            parts.insert(parts.begin(), stream_fault::stall);
            parts.emplace_back(stream_fault::stall);
            return parts;
        };
    }
    return what;
}

// All that may become of the answers to commands.
class command_cases {
public:
    explicit command_cases(std::vector<case_of>& to) : to_{to} {}

    void add_all(step const& where) {
        where_ = &where;
        using epoch = disturbance::epoch;
        add({.name = "lost", .rewrite = [](auto const&) { return message_parts{}; }},
            epoch::dropped);
        add({.name = "twice",
             .rewrite = [](auto const& message) { return message_parts{message, message}; }},
            epoch::dropped);
        // Errors have no nonce: two that are the same may change places.
        bool const is_one_of_two = where.message == message_kind::error;
        add({.name = "overtaken", .rewrite = {}, .overtaken = true},
            is_one_of_two ? epoch::any : epoch::dropped);
        for (auto const at : {place::before, place::behind, place::instead}) {
            add(inserted(granted_to_another, at, "a grant"), epoch::dropped);
            for (auto const odd : odd_replies) {
                add(inserted(odd, at, "an odd reply"), epoch::dropped);
            }
            for (auto const error : errors) {
                if (proves_too_much(where, error)) {
                    continue;
                }
                add_error(inserted(error, at, "an error"), at);
            }
        }
        for (auto const push : pushes) {
            add(inserted(push, place::before, "a push"), epoch::kept);
            add(inserted(push, place::behind, "a push"), epoch::kept);
        }
        if (has_nonce(where.message)) {
            add_nonces();
        }
    }

private:
    void add_error(disturbance what, place at) {
        // Who is told that he may not log in, or that his request was refused, has to believe it.
        what.lies = at == place::instead || is_of_probe(where_->message);
        what.may_cause = holdfast::errc::server_refused;
        add(std::move(what), what.lies ? disturbance::epoch::any : disturbance::epoch::dropped);
    }

    void add_nonces() {
        for (auto const difference : {-1, 1}) {
            add({.name = fmt::format("the nonce of a request {:+}", difference),
                 .rewrite = [difference](auto const& message
                            ) { return message_parts{with_other_nonce(message, difference)}; }},
                disturbance::epoch::dropped);
        }
    }

    void add(disturbance what, disturbance::epoch then) {
        // A probe is one of a new connection, and the library's own PING is no business of ours.
        bool const is_script =
            !is_of_probe(where_->message) && where_->message != message_kind::health;
        what.then = is_script ? then : disturbance::epoch::any;
        to_.push_back({where_, what});
        // With others about, no check is needed.
        if (is_script && where_->message != message_kind::check) {
            to_.push_back({where_, crowded(std::move(what))});
        }
    }

    std::vector<case_of>& to_;
    step const* where_ = nullptr;
};

// All that may become of what comes on the connection for notifications.
void add_notification_cases(step const& where, std::vector<case_of>& to) {
    using epoch = disturbance::epoch;
    bool const is_confirmation =
        where.message == message_kind::subscribe || where.message == message_kind::unsubscribe;
    // A confirmation that does not come is noticed at the next one, or after its time-out.
    auto const if_missing = is_confirmation ? epoch::dropped : epoch::any;
    auto const add = [&](disturbance what, epoch then = epoch::any) {
        bool const is_own = !is_of_probe(where.message) && where.message != message_kind::health;
        what.then = is_own ? then : epoch::any;
        to.push_back({.where = &where, .what = std::move(what), .own_client = true});
    };
    add({.name = "lost", .rewrite = [](auto const&) { return message_parts{}; }}, if_missing);
    add({.name = "twice", .rewrite = [](auto const& message) {
             return message_parts{message, message};
         }});
    add({.name = "overtaken", .rewrite = {}, .overtaken = true});
    for (auto const at : {place::before, place::behind, place::instead}) {
        auto const then = at == place::instead ? if_missing : epoch::any;
        add(inserted(granted_to_another, at, "a grant"), then);
        for (auto const odd : odd_replies) {
            add(inserted(odd, at, "an odd reply"), then);
        }
        for (auto const push : pushes) {
            add(inserted(push, at, "a push"), then);
        }
        for (auto const error : errors) {
            auto what = inserted(error, at, "an error");
            // It may be taken for what became of the subscription.
            what.lies = true;
            bool const answers_nothing =
                where.message == message_kind::message ||
                (at == place::behind && where.message == message_kind::subscribe);
            add(std::move(what), answers_nothing ? epoch::dropped : epoch::any);
        }
    }
}

std::vector<case_of> all_cases() {
    std::vector<case_of> cases;
    for (auto const& each : all_steps()) {
        if (!is_asked_for(each.name)) {
            continue;
        }
        if (each.link == link_kind::commands) {
            command_cases{cases}.add_all(each);
        } else {
            add_notification_cases(each, cases);
        }
    }
    return cases;
}

asio::awaitable<void> run_cases(
    asio::any_io_executor executor,
    std::vector<case_of> const& cases,
    std::vector<std::size_t> const& chosen,
    int side_by_side = lanes
) {
    campaign::terms const terms{
        .lanes = side_by_side,
        .timeout = timeout,
        .bound = bound,
        .lease = lease,
        .rivals_lease = lease,
        .fallback_poll_interval = fallback
    };
    campaign all{executor, terms};
    co_await all.preflight();
    std::function<case_of(std::size_t)> const make = [&cases](std::size_t number) {
        return cases[number];
    };
    co_await all.run(chosen, make);
    std::cout << fmt::format(
                     "wire replies: {} of {} edits, {}, {} reconnects",
                     chosen.size(),
                     cases.size(),
                     all.findings().summary(),
                     all.reconnects()
                 )
              << std::endl;
    all.findings().check();
}

}  // namespace

BOOST_AUTO_TEST_CASE(answers_that_are_not_those_to_the_questions) {
    auto const cases = all_cases();
    auto const chosen = choose(cases.size(), stride);
    run_with_deadline(
        [&](asio::any_io_executor executor) { return run_cases(executor, cases, chosen); },
        run_limit()
    );
}

// The answer behind it shows that the error was somebody else's. It costs no lease, and nobody is
// told that there is something to mend.
BOOST_AUTO_TEST_CASE(an_error_that_nothing_confirms) {
    auto cases = all_cases();
    std::erase_if(cases, [](auto const& one) {
        auto const& what = one.what;
        bool const is_permanent = what.name.find("-WRONGTYPE") != std::string::npos ||
                                  what.name.find("-NOAUTH") != std::string::npos ||
                                  what.name.find("-NOPERM") != std::string::npos;
        return !is_permanent || !what.crowded || what.lies || !what.name.ends_with("before it");
    });
    auto const every = in_any_order(cases.size());
    run_with_deadline(
        [&](asio::any_io_executor executor) { return run_cases(executor, cases, every); },
        run_limit()
    );
}

// One client goes from case to case. What a fault has done to it must not be taken for the work of
// the next one: a confirmation that is missing, or a release that the server is said to refuse.
BOOST_AUTO_TEST_CASE(a_case_leaves_nothing_for_the_next) {
    auto const cases = all_cases();
    std::vector<std::size_t> order;
    auto const add = [&](std::string_view step, std::string_view fault, std::string_view end = {}) {
        auto const one = std::find_if(cases.begin(), cases.end(), [&](auto const& each) {
            return each.where->name == step && each.what.name.starts_with(fault) &&
                   each.what.name.ends_with(end);
        });
        BOOST_TEST((one != cases.end() || !is_asked_for(step)));
        if (one != cases.end()) {
            order.push_back(static_cast<std::size_t>(one - cases.begin()));
        }
    };
    for (std::string_view const step : {"subscription", "unsubscription"}) {
        add(step, "lost");
        add("busy acquire", "a push");
        add(step, "an odd reply", "instead");
        add("busy acquire", "a push");
    }
    add("release", "an error -NOPERM", "instead");
    add("check of an error", "twice");
    run_with_deadline(
        [&](asio::any_io_executor executor) { return run_cases(executor, cases, order, 1); },
        run_limit()
    );
}
