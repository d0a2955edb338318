// The first request on a connection: what it says, and what is concluded from the answers.

#include "redis/probe.hpp"

#include <boost/redis/resp3/node.hpp>
#include <boost/redis/resp3/type.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using holdfast::config;
using holdfast::errc;
using holdfast::log_level;
using holdfast::detail::probe;
using event = holdfast::detail::reply_collector::event;

namespace {

constexpr std::string_view nonce = "n0nce";
constexpr std::string_view unlimited =
    "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n";

struct answer {
    type kind;
    std::string_view text;
};

constexpr answer hello{type::blob_string, "server"};
constexpr answer selected{type::simple_string, "OK"};
constexpr answer pong{type::blob_string, nonce};
constexpr answer time_of_day{type::blob_string, "1700000000"};
constexpr answer master{type::blob_string, "master"};
constexpr answer memory{type::verbatim_string, unlimited};

config with_database(int number) {
    config settings;
    settings.database = number;
    return settings;
}

answer error(std::string_view text) {
    return {type::simple_error, text};
}

probe::verdict judged(
    std::vector<answer> const& answers,
    config const& settings = {},
    bool for_commands = true
) {
    probe asked{settings, for_commands, std::string{nonce}};
    for (auto const& one : answers) {
        asked.on_event(event::init, {});
        asked.on_event(event::node, node_view{one.kind, 1, 0, one.text});
        asked.on_event(event::done, {});
    }
    return asked.judge();
}

// The words of the request, one after the other.
std::string words(config const& settings, bool for_commands) {
    probe const asked{settings, for_commands, std::string{nonce}};
    std::string const payload{asked.request().payload()};
    std::string result;
    for (std::size_t at = 0; at < payload.size();) {
        auto const end = payload.find("\r\n", at);
        auto const line = payload.substr(at, end - at);
        if (!line.starts_with('*') && !line.starts_with('$')) {
            result += (result.empty() ? "" : " ") + line;
        }
        at = end + 2;
    }
    return result;
}

bool has_remark(probe::verdict const& verdict, log_level level, std::string_view part) {
    return std::any_of(verdict.remarks.begin(), verdict.remarks.end(), [&](auto const& remark) {
        return remark.first == level && remark.second.find(part) != std::string::npos;
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(probe_test)

BOOST_AUTO_TEST_CASE(it_says_hello_and_looks_around) {
    BOOST_TEST(words({}, true) == "HELLO 3 SETNAME holdfast PING n0nce TIME ROLE INFO memory");
    BOOST_TEST(words({}, false) == "HELLO 3 SETNAME holdfast PING n0nce");
}

BOOST_AUTO_TEST_CASE(it_logs_in_and_selects_the_database_before_anything_else) {
    config settings;
    settings.password = "s3cret";
    settings.client_name.clear();
    settings.database = 7;
    BOOST_TEST(words(settings, false) == "HELLO 3 AUTH default s3cret SELECT 7 PING n0nce");
    settings.username = "alice";
    settings.client_name = "shop";
    BOOST_TEST(
        words(settings, false) == "HELLO 3 AUTH alice s3cret SETNAME shop SELECT 7 PING n0nce"
    );
}

BOOST_AUTO_TEST_CASE(it_counts_its_commands) {
    BOOST_TEST(probe({}, true, "n").commands() == 5U);
    BOOST_TEST(probe({}, false, "n").commands() == 2U);
    BOOST_TEST(probe(with_database(1), true, "n").commands() == 6U);
}

BOOST_AUTO_TEST_CASE(a_good_server_is_accepted_without_a_word) {
    auto const verdict = judged({hello, pong, time_of_day, master, memory});
    BOOST_TEST(!verdict.error);
    BOOST_TEST(!verdict.permanent);
    BOOST_TEST(verdict.remarks.empty());
    BOOST_TEST(!judged({hello, pong}, {}, false).error);
    BOOST_TEST(!judged({hello, selected, pong}, with_database(1), false).error);
}

BOOST_AUTO_TEST_CASE(too_few_answers_or_too_many_are_no_probe) {
    BOOST_TEST((judged({}).error == errc::unreachable));
    BOOST_TEST((judged({hello, pong, time_of_day, master}).error == errc::unreachable));
    BOOST_TEST((judged({hello, pong, time_of_day, master, memory, pong}).error == errc::unreachable)
    );
}

BOOST_AUTO_TEST_CASE(an_answer_to_somebody_elses_ping_is_no_probe) {
    auto const verdict = judged({hello, {type::blob_string, "other"}, time_of_day, master, memory});
    BOOST_TEST((verdict.error == errc::unreachable));
    BOOST_TEST(!verdict.permanent);
}

BOOST_AUTO_TEST_CASE(what_somebody_has_to_mend_is_permanent) {
    struct {
        std::string_view text;
        errc expected;
    } const table[] = {
        {"WRONGPASS invalid username-password pair or user is disabled.", errc::auth_failed},
        {"NOAUTH HELLO must be called with the client already authenticated", errc::auth_failed},
        {"ERR AUTH <password> called without any password configured for the default user.",
         errc::auth_failed},
        {"NOPERM this user has no permissions to run the 'hello' command", errc::no_permission},
        {"NOPROTO unsupported protocol version", errc::unsupported_server},
        {"ERR unknown command `HELLO`, with args beginning with: `3`, ", errc::unsupported_server},
        {"ERR Protocol error of something that is not Redis", errc::unsupported_server},
    };
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.text) {
            auto const verdict = judged({error(row.text), pong, time_of_day, master, memory});
            BOOST_TEST((verdict.error == row.expected), verdict.error.message());
            BOOST_TEST(verdict.permanent);
            BOOST_TEST(has_remark(verdict, log_level::error, holdfast::detail::loggable(row.text)));
        }
    }
}

BOOST_AUTO_TEST_CASE(what_passes_by_itself_is_not_permanent) {
    for (std::string_view const text :
         {"LOADING Redis is loading the dataset in memory",
          "BUSY Redis is busy running a script.",
          "ERR max number of clients reached",
          "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."}) {
        auto const at_hello = judged({error(text), pong, time_of_day, master, memory});
        BOOST_TEST((at_hello.error == errc::server_refused));
        BOOST_TEST(!at_hello.permanent);
        auto const at_ping = judged({hello, error(text), time_of_day, master, memory});
        BOOST_TEST((at_ping.error == errc::server_refused));
        BOOST_TEST(!at_ping.permanent);
    }
}

BOOST_AUTO_TEST_CASE(a_database_that_is_not_there_is_permanent) {
    auto const verdict =
        judged({hello, error("ERR DB index is out of range"), pong}, with_database(99), false);
    BOOST_TEST((verdict.error == errc::unsupported_server));
    BOOST_TEST(verdict.permanent);
}

BOOST_AUTO_TEST_CASE(a_replica_is_refused_for_the_time_being) {
    auto const verdict = judged({hello, pong, time_of_day, {type::blob_string, "slave"}, memory});
    BOOST_TEST((verdict.error == errc::server_refused));
    BOOST_TEST(!verdict.permanent);
    BOOST_TEST(has_remark(verdict, log_level::error, "replica"));
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_look_at_role_or_policy_may_still_lock) {
    auto const denied = error("NOPERM this user has no permissions to run the 'role' command");
    auto const verdict = judged({hello, pong, time_of_day, denied, denied});
    BOOST_TEST(!verdict.error);
    BOOST_TEST(has_remark(verdict, log_level::info, "not checked"));
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_read_the_time_may_not_lock) {
    auto const verdict = judged(
        {hello,
         pong,
         error("NOPERM this user has no permissions to run the 'time' command"),
         master,
         memory}
    );
    BOOST_TEST((verdict.error == errc::no_permission));
    BOOST_TEST(verdict.permanent);
}

BOOST_AUTO_TEST_CASE(a_server_that_evicts_keys_is_used_with_a_warning) {
    auto const limited = judged(
        {hello,
         pong,
         time_of_day,
         master,
         {type::verbatim_string, "maxmemory:1048576\r\nmaxmemory_policy:allkeys-lru\r\n"}}
    );
    BOOST_TEST(!limited.error);
    BOOST_TEST(has_remark(limited, log_level::warning, "noeviction"));
    auto const safe = judged(
        {hello,
         pong,
         time_of_day,
         master,
         {type::verbatim_string, "maxmemory:1048576\r\nmaxmemory_policy:noeviction\r\n"}}
    );
    BOOST_TEST(safe.remarks.empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_long_user_name_is_sent_whole) {
    config settings;
    settings.username = "a user whose name is too long for the object itself";
    settings.password = "s3cret";
    BOOST_TEST(words(settings, true).find(settings.username) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_refusal_that_repeats_the_password_is_logged_without_it) {
    auto const verdict = judged(
        {error("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'x' 's3cret'"),
         {type::simple_string, nonce},
         error("NOAUTH Authentication required."),
         error("NOAUTH Authentication required."),
         error("NOAUTH Authentication required.")}
    );
    BOOST_TEST((verdict.error == errc::unsupported_server));
    for (auto const& [level, text] : verdict.remarks) {
        BOOST_TEST(text.find("s3cret") == std::string::npos, text);
    }
}
