// What the server's error replies mean, each in the form of Redis 7 and in that of Redis 6, and how
// replies are put together from the parser's events.

#include "redis/replies.hpp"

#include "unit/printers.hpp"

#include <boost/asio/error.hpp>
#include <boost/redis/resp3/node.hpp>
#include <boost/redis/resp3/type.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

using holdfast::errc;
using holdfast::detail::classify;
using holdfast::detail::failure_while_parsing;
using holdfast::detail::reply_collector;
using holdfast::detail::reply_value;
using effect = holdfast::detail::server_error::effect;
using event = reply_collector::event;
using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using namespace std::string_literals;

namespace {

std::string const digest = "f_7f923f79fe76194c868d7e1d0820de36700eb649";

// How Redis 7 hands on an error that a command in a script met.
std::string redis_7(std::string const& text) {
    return text + " script: 7f923f79fe76194c868d7e1d0820de36700eb649, on @user_script:1.";
}

// How Redis 6 and older do, for errors of commands and for those of the script engine's own checks.
std::string redis_6(std::string const& text) {
    return "ERR Error running script (call to " + digest + "): @user_script:1: " + text;
}
std::string redis_6_dashed(std::string const& text) {
    return "ERR Error running script (call to " + digest + "): @user_script: 1: -" + text;
}

struct expectation {
    std::string text;
    effect what;
    errc error;
};

expectation const with_code[] = {
    {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     effect::transient,
     errc::server_refused},
    {"LOADING Redis is loading the dataset in memory", effect::transient, errc::server_refused},
    {"DENIED Redis is running in protected mode because protected mode is enabled and no password "
     "is set for the default user.",
     effect::transient,
     errc::server_refused},
    {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
     effect::transient,
     errc::server_refused},
    {"CLUSTERDOWN The cluster is down", effect::transient, errc::server_refused},
    {"TRYAGAIN Multiple keys request during rehashing of slot",
     effect::transient,
     errc::server_refused},
    {"READONLY You can't write against a read only replica.",
     effect::transient,
     errc::server_refused},
    {"NOREPLICAS Not enough good replicas to write.", effect::transient, errc::server_refused},
    {"MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist "
     "on disk. Commands that may "
     "modify the data set are disabled.",
     effect::transient,
     errc::server_refused},
    {"OOM command not allowed when used memory > 'maxmemory'.",
     effect::transient,
     errc::server_refused},
    {"NOSCRIPT No matching script. Please use EVAL.", effect::no_script, errc::server_refused},
    {"NOPERM this user has no permissions to run the 'publish' command",
     effect::permanent,
     errc::no_permission},
    {"NOPERM No permissions to access a key", effect::permanent, errc::no_permission},
    {"NOAUTH Authentication required.", effect::permanent, errc::auth_failed},
    {"WRONGPASS invalid username-password pair or user is disabled.",
     effect::permanent,
     errc::auth_failed},
    {"WRONGTYPE Operation against a key holding the wrong kind of value",
     effect::permanent,
     errc::corrupt_state},
    {"NOPROTO unsupported protocol version", effect::permanent, errc::unsupported_server},
    {"CROSSSLOT Keys in request don't hash to the same slot",
     effect::permanent,
     errc::unsupported_server},
    {"MOVED 3999 127.0.0.1:6381", effect::redirected, errc::unsupported_server},
    {"ASK 3999 127.0.0.1:6381", effect::redirected, errc::unsupported_server},
};

expectation const with_phrase[] = {
    {"ERR max number of clients reached", effect::transient, errc::server_refused},
    {"ERR max number of clients + cluster connections reached",
     effect::transient,
     errc::server_refused},
    {"ERR unknown command 'EVALSHA', with args beginning with: ",
     effect::permanent,
     errc::unsupported_server},
    {"ERR unknown command `HELLO`, with args beginning with: `3`, ",
     effect::permanent,
     errc::unsupported_server},
    {redis_7("ERR Unknown Redis command called from script"),
     effect::permanent,
     errc::unsupported_server},
    {redis_6("Unknown Redis command called from Lua script"),
     effect::permanent,
     errc::unsupported_server},
    {"ERR DB index is out of range", effect::permanent, errc::unsupported_server},
    // Dragonfly.
    {redis_6("script tried accessing undeclared key"), effect::permanent, errc::unsupported_server},
    {"ERR script tried accessing undeclared key, script: 7f923f79fe76194c868d7e1d0820de36700eb649",
     effect::permanent,
     errc::unsupported_server},
    // ElastiCache Serverless, and Redis for commands that scripts may not use.
    {redis_7("ERR This Redis command is not allowed from script"),
     effect::permanent,
     errc::unsupported_server},
    {redis_6("This Redis command is not allowed from scripts"),
     effect::permanent,
     errc::unsupported_server},
    {redis_7("ERR Script attempted to access keys that do not hash to the same slot"),
     effect::permanent,
     errc::unsupported_server},
    // Envoy.
    {"ERR unsupported command 'hello'", effect::permanent, errc::unsupported_server},
    {"unsupported command", effect::permanent, errc::unsupported_server},
    {"ERR wrong number of arguments for 'evalsha' command",
     effect::permanent,
     errc::unsupported_server},
    // Garnet.
    {"ERR This instance has Lua scripting support disabled",
     effect::permanent,
     errc::unsupported_server},
    {"ERR unknown command", effect::permanent, errc::unsupported_server},
    // Alibaba Cloud, its proxy.
    {"ERR bad lua script for redis cluster, all the keys that the script uses should be passed "
     "using the KEYS array",
     effect::permanent,
     errc::unsupported_server},
    {"ERR bad lua script for redis cluster, first parameter of redis.call/redis.pcall must be a "
     "single literal string",
     effect::permanent,
     errc::unsupported_server},
    {"ERR 'eval' command keys must in same slot", effect::permanent, errc::unsupported_server},
    {"ERR command script not support for normal user", effect::permanent, errc::unsupported_server},
    // Others: a proxy of Redis Enterprise, Upstash, Codis, a server that was told so.
    {"ERR unknown or disabled command 'EVAL'", effect::permanent, errc::unsupported_server},
    {"ERR Command is not available: 'SUBSCRIBE'", effect::permanent, errc::unsupported_server},
    {"ERR handle request, command 'EVAL' is not allowed",
     effect::permanent,
     errc::unsupported_server},
    {"ERR EVAL is disabled", effect::permanent, errc::unsupported_server},
    {"ERR Error compiling script (new function): user_script:1: '=' expected near 'local'",
     effect::permanent,
     errc::unsupported_server},
    {redis_6("attempt to call field 'setresp' (a nil value)"),
     effect::permanent,
     errc::unsupported_server},
    {"ERR AUTH <password> called without any password configured for the default user. Are you "
     "sure your configuration is "
     "correct?",
     effect::permanent,
     errc::auth_failed},
    {"ERR Client sent AUTH, but no password is set", effect::permanent, errc::auth_failed},
    {redis_7("NOPERM ACL failure in script: No permissions to access a key"),
     effect::permanent,
     errc::no_permission},
    {redis_7("ERR ACL failure in script: User alice has no permissions to run the 'hset' command"),
     effect::permanent,
     errc::no_permission},
    {redis_6("The user executing the script can't run this command or subcommand"),
     effect::permanent,
     errc::no_permission},
    {redis_6("The user executing the script can't access at least one of the keys mentioned in the "
             "command arguments"),
     effect::permanent,
     errc::no_permission},
    {redis_6("The user executing the script can't publish to the channel mentioned in the command"),
     effect::permanent,
     errc::no_permission},
    {redis_7("ERR value is not an integer or out of range"), effect::permanent, errc::corrupt_state
    },
    {redis_6("ERR value is not an integer or out of range"), effect::permanent, errc::corrupt_state
    },
    {redis_7("ERR increment or decrement would overflow"), effect::permanent, errc::corrupt_state},
    // It passes when the slot has been moved.
    {redis_7("ERR Script attempted to access a non local key in a cluster node"),
     effect::uncertain,
     errc::server_refused},
    // A proxy whose server is away.
    {"no upstream host", effect::uncertain, errc::server_refused},
    {"upstream failure", effect::uncertain, errc::server_refused},
    // Whatever is not known may have happened half way.
    {"ERR Script killed by user with SCRIPT KILL...", effect::uncertain, errc::server_refused},
    {redis_6("attempt to index a nil value"), effect::uncertain, errc::server_refused},
    {"ERR", effect::uncertain, errc::server_refused},
    {"", effect::uncertain, errc::server_refused},
    {"FANCYNEW error of a later server", effect::uncertain, errc::server_refused},
};

void check(std::string const& text, expectation const& expected) {
    auto const found = classify(text);
    BOOST_TEST_CONTEXT(text) {
        BOOST_TEST(found.what == expected.what);
        BOOST_TEST((found.error == expected.error), found.error.message());
        BOOST_TEST(found.wrong_role == expected.text.starts_with("READONLY"));
    }
}

void feed(
    reply_collector& collector,
    type what,
    std::string_view value,
    std::size_t depth = 0,
    std::size_t size = 1
) {
    collector.on_event(event::node, node_view{what, size, depth, value});
}

bool refuses(reply_collector& collector, type what, std::string_view value, std::size_t depth = 0) {
    try {
        feed(collector, what, value, depth);
        return false;
    } catch (boost::system::system_error const&) {
        return failure_while_parsing() == boost::system::errc::protocol_error;
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replies_test)

BOOST_AUTO_TEST_CASE(every_code_is_known_as_the_answer_to_a_command) {
    for (auto const& row : with_code) {
        check(row.text, row);
    }
}

BOOST_AUTO_TEST_CASE(every_code_is_known_in_the_form_of_redis_7) {
    for (auto const& row : with_code) {
        check(redis_7(row.text), row);
    }
}

BOOST_AUTO_TEST_CASE(every_code_is_known_in_the_forms_of_redis_6) {
    for (auto const& row : with_code) {
        check(redis_6(row.text), row);
        check(redis_6_dashed(row.text), row);
    }
}

BOOST_AUTO_TEST_CASE(errors_without_a_code_are_known_by_their_words) {
    for (auto const& row : with_phrase) {
        check(row.text, row);
    }
}

BOOST_AUTO_TEST_CASE(a_code_is_a_whole_word_at_the_beginning) {
    for (std::string const text :
         {"BUSYGROUP Consumer Group name already exists",
          "ERR the server is BUSY today",
          "ASKING for trouble",
          "xNOSCRIPT no"}) {
        BOOST_TEST(classify(text).what == effect::uncertain);
    }
    BOOST_TEST(classify("OOM").what == effect::transient);
}

BOOST_AUTO_TEST_CASE(a_reply_is_put_together_from_its_nodes) {
    reply_collector collector;
    BOOST_TEST(!collector.on_event(event::init, {}));
    feed(collector, type::array, "", 0, 3);
    feed(collector, type::blob_string, "nonce", 1);
    feed(collector, type::number, "1", 1);
    feed(collector, type::number, "-9007199254740993", 1);
    BOOST_TEST(collector.on_event(event::done, {}));
    auto const& reply = collector.current();
    BOOST_TEST(!reply.is_error);
    BOOST_TEST(!reply.is_push);
    BOOST_TEST(reply.values.size() == 3U);
    BOOST_TEST(reply.text(0) == "nonce");
    BOOST_TEST((reply.values[1] == reply_value{std::int64_t{1}}));
    BOOST_TEST((reply.values[2] == reply_value{std::int64_t{-9'007'199'254'740'993}}));
    // A number is no text.
    BOOST_TEST(reply.text(1) == "");
    BOOST_TEST(reply.text(3) == "");
}

BOOST_AUTO_TEST_CASE(errors_and_pushes_are_told_apart_and_leave_nothing_behind) {
    reply_collector collector;
    collector.on_event(event::init, {});
    feed(collector, type::simple_error, "OOM no");
    collector.on_event(event::done, {});
    BOOST_TEST(collector.current().is_error);
    BOOST_TEST(collector.current().error == "OOM no");
    collector.on_event(event::init, {});
    feed(collector, type::push, "", 0, 3);
    feed(collector, type::blob_string, "message", 1);
    collector.on_event(event::done, {});
    BOOST_TEST(collector.current().is_push);
    BOOST_TEST(!collector.current().is_error);
    collector.on_event(event::init, {});
    feed(collector, type::blob_error, "ERR no");
    collector.on_event(event::done, {});
    BOOST_TEST(collector.current().is_error);
    BOOST_TEST(!collector.current().is_push);
    BOOST_TEST(collector.current().values.empty());
}

BOOST_AUTO_TEST_CASE(a_streamed_string_ends_the_connection) {
    for (auto const what : {type::streamed_string, type::streamed_string_part}) {
        reply_collector collector;
        collector.on_event(event::init, {});
        BOOST_TEST(refuses(collector, what, ""));
    }
}

BOOST_AUTO_TEST_CASE(a_reply_in_more_levels_than_any_answer_has_ends_the_connection) {
    for (auto const what : {type::array, type::map, type::set, type::attribute, type::push}) {
        reply_collector collector;
        collector.on_event(event::init, {});
        BOOST_TEST(!refuses(collector, what, "", 3));
        BOOST_TEST(!refuses(collector, type::blob_string, "x", 4));
        BOOST_TEST(refuses(collector, what, "", 4));
    }
}

BOOST_AUTO_TEST_CASE(a_reply_that_would_take_much_memory_ends_the_connection) {
    reply_collector collector;
    collector.on_event(event::init, {});
    for (int i = 0; i < 65'536; ++i) {
        feed(collector, type::number, "1", 1);
    }
    BOOST_TEST(refuses(collector, type::number, "1"));
    BOOST_TEST(refuses(collector, type::null, ""));

    collector.on_event(event::init, {});
    std::string const mebibyte(1U << 20U, 'x');
    for (int i = 0; i < 16; ++i) {
        feed(collector, type::blob_string, mebibyte, 1);
    }
    BOOST_TEST(refuses(collector, type::blob_string, "x"));

    // The next connection starts anew.
    collector.on_event(event::init, {});
    feed(collector, type::blob_string, "x");
    BOOST_TEST(collector.on_event(event::done, {}));
    BOOST_TEST(collector.current().text(0) == "x");
}

BOOST_AUTO_TEST_CASE(whatever_is_thrown_while_a_reply_is_read_is_a_failure) {
    try {
        throw std::bad_alloc{};
    } catch (...) {
        BOOST_TEST((failure_while_parsing() == boost::asio::error::no_memory));
    }
    try {
        throw boost::system::system_error{{}};
    } catch (...) {
        BOOST_TEST((failure_while_parsing() == boost::asio::error::no_memory));
    }
}

BOOST_AUTO_TEST_CASE(a_reply_of_one_text_is_told_from_errors_and_from_what_has_none) {
    using holdfast::detail::raw_reply;
    using holdfast::detail::text_reply;
    raw_reply text;
    text.values.emplace_back("yes");
    BOOST_TEST(text_reply::of(text).text == "yes");
    raw_reply error;
    error.is_error = true;
    error.error = "ERR no";
    auto const refused = text_reply::of(error);
    BOOST_TEST(refused.is_error);
    BOOST_TEST(refused.text == "ERR no");
    raw_reply number;
    number.values.emplace_back(1);
    raw_reply two;
    two.values.assign(2, "a");
    for (auto* one : {&number, &two}) {
        auto const none = text_reply::of(*one);
        BOOST_TEST(!none.is_error);
        BOOST_TEST(none.text.empty());
    }
}

BOOST_AUTO_TEST_CASE(what_a_server_repeats_of_a_command_is_not_logged) {
    auto const text = holdfast::detail::loggable(
        "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 's3cret'"
    );
    BOOST_TEST(text == "ERR unknown command 'HELLO'");
    BOOST_TEST(holdfast::detail::loggable("NOAUTH a\nb") == "NOAUTH a\\x0ab");
}

BOOST_AUTO_TEST_CASE(the_hash_of_a_script_is_not_logged) {
    using holdfast::detail::loggable;
    BOOST_TEST(
        loggable("OOM command not allowed when used memory > 'maxmemory'. script: "
                 "d8379388368fff61dae76a1e4ae4a8c4a3863ada, on @user_script:369."
        ) == "OOM command not allowed when used memory > 'maxmemory'."
    );
    BOOST_TEST(
        loggable("ERR script tried accessing undeclared key, script: 7f923f79") ==
        "ERR script tried accessing undeclared key"
    );
    BOOST_TEST(
        loggable("ERR Error running script (call to f_7f923f79): @user_script:1: -OOM command") ==
        "ERR Error running script: @user_script:1: -OOM command"
    );
}

BOOST_AUTO_TEST_CASE(an_error_says_whether_the_script_was_executed) {
    using holdfast::detail::exec_status;
    using holdfast::detail::status_of;
    BOOST_TEST((status_of(effect::transient) == exec_status::refused));
    BOOST_TEST((status_of(effect::no_script) == exec_status::refused));
    BOOST_TEST((status_of(effect::permanent) == exec_status::failed));
    BOOST_TEST((status_of(effect::uncertain) == exec_status::unknown));
}

BOOST_AUTO_TEST_CASE(a_redirection_says_which_node_has_the_slot) {
    using holdfast::detail::read_redirection;
    auto const moved = read_redirection("MOVED 3999 127.0.0.1:6381");
    BOOST_REQUIRE(moved.has_value());
    BOOST_TEST(!moved->ask);
    BOOST_TEST(moved->slot == 3999);
    BOOST_TEST(moved->host == "127.0.0.1");
    BOOST_TEST(moved->port == 6381);
    auto const six = read_redirection("ASK 16383 2001:db8::7:6381");
    BOOST_REQUIRE(six.has_value());
    BOOST_TEST(six->ask);
    BOOST_TEST(six->host == "2001:db8::7");
    // The same host, or one that has no name yet.
    for (std::string const same : {"MOVED 1 :6381", "MOVED 1 ?:6381"}) {
        BOOST_REQUIRE(read_redirection(same).has_value());
        BOOST_TEST(read_redirection(same)->host == "");
    }
    for (std::string const wrong :
         {"",
          "MOVED",
          "MOVED 1",
          "MOVED 1 h",
          "MOVED x h:1",
          "MOVED 16384 h:1",
          "MOVED 1 h:0",
          "MOVED 1 h:65536",
          "ERR MOVED 1 h:1"}) {
        BOOST_TEST(!read_redirection(wrong).has_value(), wrong);
    }
}

BOOST_AUTO_TEST_CASE(a_cluster_says_why_it_does_not_serve_a_request) {
    BOOST_TEST(classify("TRYAGAIN Multiple keys request during rehashing of slot").apart);
    BOOST_TEST(!classify("CLUSTERDOWN The cluster is down").apart);
    BOOST_TEST(classify("CLUSTERDOWN Hash slot not served").cluster_down);
    BOOST_TEST(!classify("BUSY Redis is busy").cluster_down);
}

BOOST_AUTO_TEST_SUITE_END()
