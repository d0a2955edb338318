// The first request on a connection: what it says, and what is concluded from the answers.

#include "redis/handshake.hpp"

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
using holdfast::detail::handshake;
using event = holdfast::detail::reply_collector::event;

namespace {

constexpr std::string_view nonce = "n0nce";
constexpr std::string_view unlimited =
    "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n";

// A reply: a value, an error, or a map's words one after the other.
struct answer {
    type kind;
    std::vector<std::string_view> words;
};

answer hello_of(std::string_view mode, std::string_view role) {
    return {
        type::map,
        {"server", "redis", "mode", mode, "role", role, "modules"},
    };
}

answer const hello = hello_of("standalone", "master");
answer const selected{type::simple_string, {"OK"}};
answer const pong{type::blob_string, {nonce}};
answer const server{
    type::verbatim_string,
    {"# Server\r\nrun_id:0123abcd\r\nuptime_in_seconds:7\r\nos:Linux\r\n"}
};
answer const time_of_day{type::array, {"1700000000", "17"}};
answer const memory{type::verbatim_string, {unlimited}};

config with_database(int number) {
    config settings;
    settings.database = number;
    return settings;
}

answer error(std::string_view text) {
    return {type::simple_error, {text}};
}

handshake::verdict judged(
    std::vector<answer> const& answers,
    config const& settings = {},
    bool for_commands = true,
    bool of_cluster = false
) {
    auto const with = of_cluster ? handshake::peer::cluster_node : handshake::peer::server;
    handshake asked{settings, for_commands, std::string{nonce}, with};
    for (auto const& one : answers) {
        asked.on_event(event::init, {});
        bool const nested = one.kind == type::map || one.kind == type::array;
        if (nested) {
            asked.on_event(event::node, node_view{one.kind, one.words.size(), 0, ""});
        }
        for (auto const word : one.words) {
            bool const is_number =
                !word.empty() &&
                std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
            auto const kind = !nested ? one.kind : is_number ? type::number : type::blob_string;
            asked.on_event(event::node, node_view{kind, 1, nested ? 1U : 0U, word});
        }
        asked.on_event(event::done, {});
    }
    return asked.judge();
}

handshake::verdict judged_of_sentinel(std::string_view mode) {
    handshake asked{{}, false, std::string{nonce}, handshake::peer::sentinel};
    BOOST_TEST(asked.commands() == 1U);
    asked.on_event(event::init, {});
    asked.on_event(event::node, node_view{type::map, 2, 0, ""});
    asked.on_event(event::node, node_view{type::blob_string, 1, 1, "mode"});
    asked.on_event(event::node, node_view{type::blob_string, 1, 1, mode});
    asked.on_event(event::done, {});
    return asked.judge();
}

// The words of the request, one after the other.
std::string words(config const& settings, bool for_commands) {
    handshake const asked{settings, for_commands, std::string{nonce}};
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

bool has_remark(handshake::verdict const& verdict, log_level level, std::string_view part) {
    return std::any_of(verdict.remarks.begin(), verdict.remarks.end(), [&](auto const& remark) {
        return remark.first == level && remark.second.find(part) != std::string::npos;
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(handshake_test)

BOOST_AUTO_TEST_CASE(it_says_hello_and_looks_around) {
    BOOST_TEST(
        words({}, true) == "HELLO 3 SETNAME holdfast TIME INFO server INFO memory PING n0nce"
    );
    BOOST_TEST(words({}, false) == "HELLO 3 SETNAME holdfast INFO server PING n0nce");
}

BOOST_AUTO_TEST_CASE(it_logs_in_and_selects_the_database_before_anything_else) {
    config settings;
    settings.password = "s3cret";
    settings.client_name.clear();
    settings.database = 7;
    BOOST_TEST(
        words(settings, false) == "HELLO 3 AUTH default s3cret SELECT 7 INFO server PING n0nce"
    );
    settings.username = "a user whose name is too long for the object itself";
    settings.client_name = "shop";
    BOOST_TEST(
        words(settings, false) ==
        "HELLO 3 AUTH " + settings.username + " s3cret SETNAME shop SELECT 7 INFO server PING n0nce"
    );
}

BOOST_AUTO_TEST_CASE(it_counts_its_commands) {
    BOOST_TEST(handshake({}, true, "n").commands() == 5U);
    BOOST_TEST(handshake({}, false, "n").commands() == 3U);
    BOOST_TEST(handshake(with_database(1), true, "n").commands() == 6U);
}

BOOST_AUTO_TEST_CASE(a_good_server_is_accepted_without_a_word) {
    auto const verdict = judged({hello, time_of_day, server, memory, pong});
    BOOST_TEST(!verdict.error);
    BOOST_TEST(!verdict.permanent);
    BOOST_TEST(verdict.remarks.empty());
    BOOST_TEST(verdict.run_id == "0123abcd");
    BOOST_TEST((verdict.uptime == std::chrono::seconds{7}));
    BOOST_TEST(!judged({hello, server, pong}, {}, false).error);
    BOOST_TEST(!judged({hello, selected, server, pong}, with_database(1), false).error);
}

BOOST_AUTO_TEST_CASE(too_few_answers_or_too_many_are_no_handshake) {
    BOOST_TEST((judged({}).error == errc::unreachable));
    BOOST_TEST((judged({hello, time_of_day, server, memory}).error == errc::unreachable));
    BOOST_TEST((judged({hello, time_of_day, server, memory, pong, pong}).error == errc::unreachable)
    );
}

BOOST_AUTO_TEST_CASE(an_answer_to_somebody_elses_ping_is_no_handshake) {
    auto const verdict =
        judged({hello, {type::blob_string, {"other"}}, time_of_day, server, memory});
    BOOST_TEST((verdict.error == errc::unreachable));
    BOOST_TEST(!verdict.permanent);
}

BOOST_AUTO_TEST_CASE(a_server_that_says_why_and_closes_the_connection_is_heard) {
    struct {
        std::string_view text;
        errc expected;
        bool permanent;
    } const table[] = {
        {"DENIED Redis is running in protected mode because protected mode is enabled.",
         errc::server_refused,
         false},
        {"ERR max number of clients reached", errc::server_refused, false},
        {"NOAUTH Authentication required.", errc::auth_failed, true},
    };
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.text) {
            auto const verdict = judged({error(row.text)});
            BOOST_TEST((verdict.error == row.expected), verdict.error.message());
            BOOST_TEST(verdict.permanent == row.permanent);
            BOOST_TEST(has_remark(verdict, log_level::error, row.text));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_loads_its_data_is_a_warning) {
    constexpr std::string_view text = "LOADING Redis is loading the dataset in memory";
    auto const verdict = judged({error(text)});
    BOOST_TEST((verdict.error == errc::server_refused));
    BOOST_TEST(!verdict.permanent);
    BOOST_TEST(has_remark(verdict, log_level::warning, text));
    BOOST_TEST(!has_remark(verdict, log_level::error, text));
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
            auto const verdict = judged({error(row.text), time_of_day, server, memory, pong});
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
        auto const at_hello = judged({error(text), time_of_day, server, memory, pong});
        BOOST_TEST((at_hello.error == errc::server_refused));
        BOOST_TEST(!at_hello.permanent);
        auto const at_ping = judged({hello, error(text), time_of_day, server, memory});
        BOOST_TEST((at_ping.error == errc::server_refused));
        BOOST_TEST(!at_ping.permanent);
    }
}

BOOST_AUTO_TEST_CASE(a_database_that_is_not_there_is_permanent) {
    auto const verdict = judged(
        {hello, error("ERR DB index is out of range"), server, pong},
        with_database(99),
        false
    );
    BOOST_TEST((verdict.error == errc::unsupported_server));
    BOOST_TEST(verdict.permanent);
}

BOOST_AUTO_TEST_CASE(a_replica_is_refused_for_the_time_being) {
    for (std::string_view const role : {"replica", "slave"}) {
        auto const verdict =
            judged({hello_of("standalone", role), time_of_day, server, memory, pong});
        BOOST_TEST((verdict.error == errc::server_refused));
        BOOST_TEST(!verdict.permanent);
        BOOST_TEST(has_remark(verdict, log_level::error, "replica"));
    }
}

BOOST_AUTO_TEST_CASE(a_cluster_node_and_a_sentinel_are_refused_for_good) {
    for (std::string_view const mode : {"cluster", "sentinel"}) {
        auto const verdict = judged({hello_of(mode, "master"), server, pong}, {}, false);
        BOOST_TEST((verdict.error == errc::unsupported_server));
        BOOST_TEST(verdict.permanent);
        BOOST_TEST(has_remark(verdict, log_level::error, mode == "cluster" ? "Cluster" : "Sentinel")
        );
    }
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_look_at_the_server_may_still_lock) {
    auto const denied = error("NOPERM this user has no permissions to run the 'info' command");
    auto const verdict = judged({hello, time_of_day, denied, denied, pong});
    BOOST_TEST(!verdict.error);
    BOOST_TEST(verdict.run_id.empty());
    BOOST_TEST(!verdict.uptime);
    BOOST_TEST(has_remark(verdict, log_level::info, "not checked"));
}

BOOST_AUTO_TEST_CASE(a_look_that_is_refused_for_a_cause_that_passes_is_no_handshake) {
    auto const verdict =
        judged({hello, time_of_day, error("LOADING Redis is loading"), memory, pong});
    BOOST_TEST((verdict.error == errc::server_refused));
    BOOST_TEST(!verdict.permanent);
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_read_the_time_may_not_lock) {
    auto const verdict = judged(
        {hello,
         error("NOPERM this user has no permissions to run the 'time' command"),
         server,
         memory,
         pong}
    );
    BOOST_TEST((verdict.error == errc::no_permission));
    BOOST_TEST(verdict.permanent);
}

BOOST_AUTO_TEST_CASE(a_server_that_evicts_keys_is_used_with_a_warning) {
    auto const limited = judged(
        {hello,
         time_of_day,
         server,
         {type::verbatim_string, {"maxmemory:1048576\r\nmaxmemory_policy:allkeys-lru\r\n"}},
         pong}
    );
    BOOST_TEST(!limited.error);
    BOOST_TEST(has_remark(limited, log_level::warning, "noeviction"));
    auto const safe = judged(
        {hello,
         time_of_day,
         server,
         {type::verbatim_string, {"maxmemory:1048576\r\nmaxmemory_policy:noeviction\r\n"}},
         pong}
    );
    BOOST_TEST(safe.remarks.empty());
}

BOOST_AUTO_TEST_CASE(a_refusal_that_repeats_the_password_is_logged_without_it) {
    auto const verdict = judged(
        {error("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'x' 's3cret'"),
         error("NOAUTH Authentication required."),
         error("NOAUTH Authentication required."),
         error("NOAUTH Authentication required."),
         {type::simple_string, {nonce}}}
    );
    BOOST_TEST((verdict.error == errc::unsupported_server));
    for (auto const& [level, text] : verdict.remarks) {
        BOOST_TEST(text.find("s3cret") == std::string::npos, text);
    }
}

BOOST_AUTO_TEST_CASE(where_a_sentinel_should_be_nothing_else_will_do) {
    BOOST_TEST(!judged_of_sentinel("sentinel").error);
    auto const other = judged_of_sentinel("standalone");
    BOOST_TEST((other.error == errc::unsupported_server));
    BOOST_TEST(other.permanent);
}

BOOST_AUTO_TEST_CASE(a_node_of_a_cluster_is_asked_for_the_slots) {
    answer const slots{type::blob_string, {"42 0 16383 h 7000"}};
    auto const primary = hello_of("cluster", "master");
    auto const verdict =
        judged({primary, time_of_day, server, memory, slots, pong}, {}, true, true);
    BOOST_TEST(!verdict.error);
    BOOST_TEST(verdict.slots == "42 0 16383 h 7000");
    BOOST_TEST(!judged({primary, server, pong}, {}, false, true).error);
    // A replica knows them, and is not used.
    auto const replica = hello_of("cluster", "replica");
    auto const refused =
        judged({replica, time_of_day, server, memory, slots, pong}, {}, true, true);
    BOOST_TEST((refused.error == errc::server_refused));
    BOOST_TEST(!refused.permanent);
    BOOST_TEST(refused.slots == "42 0 16383 h 7000");
}

// What stands in its place may look like an answer: that nobody has any slot.
BOOST_AUTO_TEST_CASE(slots_are_not_believed_where_a_reply_is_missing) {
    answer const slots{type::blob_string, {"42 0 16383 h 7000"}};
    answer const health{type::simple_string, {"holdfast"}};
    auto const primary = hello_of("cluster", "master");
    for (auto const& got : {
             std::vector{time_of_day, server, memory, slots, pong, health},
             std::vector{primary, time_of_day, server, memory, slots},
             std::vector<answer>{},
         }) {
        auto const verdict = judged(got, {}, true, true);
        BOOST_TEST((verdict.error == errc::unreachable));
        BOOST_TEST(verdict.slots.empty());
    }
}

BOOST_AUTO_TEST_CASE(a_user_of_a_cluster_has_to_be_allowed_to_ask_for_the_slots) {
    auto const denied =
        error("NOPERM this user has no permissions to run the 'cluster|slots' command");
    auto const verdict = judged(
        {hello_of("cluster", "master"), time_of_day, server, memory, denied, pong},
        {},
        true,
        true
    );
    BOOST_TEST((verdict.error == errc::no_permission));
    BOOST_TEST(verdict.permanent);
    BOOST_TEST(verdict.slots.empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_node_of_a_cluster_is_refused_where_one_is_expected) {
    for (std::string_view const mode : {"standalone", "sentinel"}) {
        auto const verdict = judged({hello_of(mode, "master"), server, pong}, {}, false, true);
        BOOST_TEST((verdict.error == errc::unsupported_server));
        BOOST_TEST(verdict.permanent);
    }
}

BOOST_AUTO_TEST_CASE(the_servers_version_is_read) {
    auto const with = [](std::string_view version) {
        answer const said{
            type::map,
            {"server", "redis", "version", version, "mode", "standalone", "role", "master"},
        };
        return judged({said, server, pong}, {}, false).major_version;
    };
    BOOST_TEST(with("7.0.15") == 7);
    BOOST_TEST(with("10.1") == 10);
    BOOST_TEST(with("unknown") == 0);
    BOOST_TEST(judged({hello, server, pong}, {}, false).major_version == 0);
}

// The refusal of SELECT would stand in the place of the look at the server, which may be refused.
BOOST_AUTO_TEST_CASE(a_database_that_was_not_selected_is_noticed) {
    auto const refused = error("NOPERM no permissions to run the 'select' command");
    BOOST_TEST(!judged({hello, selected, server, pong}, with_database(3), false).error);
    BOOST_TEST(
        (judged({hello, server, refused, pong}, with_database(3), false).error == errc::unreachable)
    );
}

// Such an answer belongs to something else. The next connection may be a better one.
BOOST_AUTO_TEST_CASE(a_server_that_does_not_say_what_it_is_is_asked_again) {
    for (auto const& odd : {answer{type::array, {"1"}}, server, pong}) {
        for (bool const of_cluster : {false, true}) {
            auto const seen = judged({odd, server, pong}, {}, false, of_cluster);
            BOOST_TEST((seen.error == errc::unreachable));
            BOOST_TEST(!seen.permanent);
        }
    }
    // A stand-in for a server may say less.
    BOOST_TEST(!judged({{type::map, {"proto", "3"}}, server, pong}, {}, false).error);
    auto const seen = judged({hello, server, pong}, {}, false, true);
    BOOST_TEST((seen.error == errc::unsupported_server));
    BOOST_TEST(seen.permanent);
}

BOOST_AUTO_TEST_SUITE_END()
