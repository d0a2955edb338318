// The requests of a connection: what is sent when, which reply belongs to which request, and what
// is known about each one at its end.

#include "unit/resp/machine.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <string_view>

using namespace holdfast::test;
using namespace holdfast::detail::resp;
using namespace std::chrono_literals;
using namespace std::string_literals;
using state = connection_fsm::state;
using verb = channel_request::verb;

namespace {

std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}
std::string eval(std::string_view tag) {
    return "*4\r\n$4\r\nEVAL\r\n$4\r\ntext\r\n$1\r\n0\r\n" + bulk(tag);
}
std::string evalsha(std::string_view tag) {
    return "*4\r\n$7\r\nEVALSHA\r\n$4\r\nhash\r\n$1\r\n0\r\n" + bulk(tag);
}
std::string push(std::string_view kind, std::string_view channel, std::string_view last = ":1") {
    return ">3\r\n" + bulk(kind) + bulk(channel) + std::string{last} + "\r\n";
}
std::string published(std::string_view channel, std::string_view payload) {
    return ">3\r\n" + bulk("message") + bulk(channel) + bulk(payload);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(connection_fsm_test)

BOOST_AUTO_TEST_CASE(only_the_handshake_is_sent_before_it_has_succeeded) {
    machine m{{}, true, false};
    m.script("a");
    CHECK_HAPPENED(m, "not taken");
    auto const hello = m.submit(m.make<one_word>("hello", "HELLO", true));
    BOOST_TEST(m.write() == "*1\r\n$5\r\nHELLO\r\n");
    hello->then = [&] {
        m.fsm.open(m.now);
        m.script("a");
    };
    m.read("%0\r\n");
    BOOST_TEST(m.write() == eval("2"));
    m.read("+2\r\n");
    CHECK_HAPPENED(m, "hello replied", "a replied 2");
}

BOOST_AUTO_TEST_CASE(limits_are_tighter_before_the_handshake_has_succeeded) {
    machine tight{{}, true, false};
    tight.read("$70000\r\n");
    CHECK_HAPPENED(tight, "down: a reply is too large");
    machine wide;
    wide.read("$70000\r\n");
    BOOST_TEST(wide.take().empty());
}

BOOST_AUTO_TEST_CASE(connecting_and_handshake_share_a_time_limit) {
    machine m{{}, true, false};
    BOOST_TEST((m.fsm.wake_at() == m.now + machine::timeout));
    m.wait(machine::timeout - 1ns);
    BOOST_TEST((m.fsm.current() == state::handshake));
    m.wait(1ns);
    CHECK_HAPPENED(m, "down: connecting took too long");
    BOOST_TEST((m.fsm.current() == state::closed));
}

BOOST_AUTO_TEST_CASE(replies_belong_to_requests_in_their_order) {
    machine m;
    auto const a = m.script("a");
    m.script("b");
    m.now += 1ms;
    BOOST_TEST(m.write() == eval("1") + evalsha("2"));
    BOOST_TEST((a->sent_at() == m.now));
    m.read("$5\r\n1 one\r\n+2");
    CHECK_HAPPENED(m, "a replied 1 one");
    m.read(" two\r\n");
    CHECK_HAPPENED(m, "b replied 2 two");
    BOOST_TEST(m.fsm.idle());
}

BOOST_AUTO_TEST_CASE(an_error_refuses_the_first_request) {
    machine m;
    m.script("a");
    m.script("b");
    m.write();
    m.read("-OOM\r\n+2\r\n");
    CHECK_HAPPENED(m, "a refused OOM", "b replied 2");
}

BOOST_AUTO_TEST_CASE(another_tag_or_type_ends_the_connection) {
    for (auto const* const reply : {"+2\r\n", "+11\r\n", "+\r\n", "+1x\r\n", ":1\r\n", "_\r\n"}) {
        BOOST_TEST_CONTEXT(reply) {
            machine m;
            m.script("a");
            m.write();
            m.read(reply);
            CHECK_HAPPENED(m, "a unknown", "down: a reply does not belong to its request");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_reply_without_a_request_ends_the_connection) {
    machine m;
    m.script("queued");
    m.read("+1\r\n");
    CHECK_HAPPENED(m, "queued not_sent", "down: a reply does not belong to its request");
}

BOOST_AUTO_TEST_CASE(what_is_not_resp_ends_the_connection) {
    machine m;
    m.script("a");
    m.write();
    m.read("+1\r\nHTTP/1.1\r\n");
    CHECK_HAPPENED(m, "a replied 1", "down: the peer does not speak RESP3");
    machine large;
    large.read(">3\r\n+message\r\n+c\r\n$2000000\r\n");
    CHECK_HAPPENED(large, "down: a message is too large");
}

BOOST_AUTO_TEST_CASE(the_first_use_of_a_script_sends_its_text) {
    machine m;
    m.script("a");
    m.script("b", "hash");
    m.script("c", "else");
    auto const sent = m.write();
    BOOST_TEST(sent.starts_with(eval("1") + evalsha("2") + eval("3")));
}

BOOST_AUTO_TEST_CASE(a_script_that_is_not_known_is_sent_once_more_as_text) {
    machine m;
    m.script("first");
    m.script("a");
    m.write();
    m.read("+1\r\n-NOSCRIPT No matching script.\r\n");
    m.script("b");
    m.now += 1s;
    // Behind what was sent meanwhile.
    BOOST_TEST(m.write() == eval("3") + evalsha("4"));
    m.read("-NOSCRIPT again\r\n+4\r\n");
    CHECK_HAPPENED(m, "first replied 1", "a refused NOSCRIPT again", "b replied 4");
}

BOOST_AUTO_TEST_CASE(the_text_is_sent_at_its_own_time_and_has_no_time_of_its_own) {
    machine m;
    m.script("first");
    auto const a = m.script("a");
    m.write();
    m.now += 2s;
    m.read("+1\r\n-NOSCRIPT x\r\n");
    m.write();
    BOOST_TEST((a->sent_at() == m.now));
    m.wait(1s);
    CHECK_HAPPENED(m, "first replied 1", "a unknown");
}

BOOST_AUTO_TEST_CASE(a_withdrawn_script_is_not_sent_again) {
    machine m;
    m.script("first");
    auto const a = m.script("a");
    m.write();
    a->withdrawn = true;
    m.read("+1\r\n-NOSCRIPT x\r\n");
    CHECK_HAPPENED(m, "first replied 1", "a refused NOSCRIPT x");
    BOOST_TEST(m.write() == "");
}

BOOST_AUTO_TEST_CASE(a_request_that_waits_for_its_text_is_not_sent) {
    machine m;
    m.script("first");
    m.script("a");
    m.write();
    m.read("+1\r\n-NOSCRIPT x\r\n");
    m.close();
    CHECK_HAPPENED(m, "first replied 1", "a not_sent", "down: closed by the client");
}

BOOST_AUTO_TEST_CASE(a_request_that_is_not_encoded_is_cancelled_without_a_trace) {
    machine m;
    auto const a = m.script("a");
    m.script("b");
    BOOST_TEST((m.fsm.cancel(*a) == request_end::not_sent));
    BOOST_TEST(!a->pending());
    BOOST_TEST(m.write() == eval("1"));
    m.read("+1\r\n");
    CHECK_HAPPENED(m, "b replied 1");
}

BOOST_AUTO_TEST_CASE(a_request_under_way_is_cancelled_and_its_reply_is_dropped) {
    machine m;
    m.script("first");
    auto const a = m.script("a");
    m.script("b");
    m.write();
    BOOST_TEST((m.fsm.cancel(*a) == request_end::unknown));
    m.read("+1\r\n-NOSCRIPT x\r\n+3\r\n");
    CHECK_HAPPENED(m, "first replied 1", "b replied 3");
    BOOST_TEST(m.write() == "");
    m.close();
    CHECK_HAPPENED(m, "down: closed by the client");
}

BOOST_AUTO_TEST_CASE(the_reply_to_a_cancelled_request_is_checked) {
    machine m;
    BOOST_TEST((m.write() == ""));
    auto const a = m.script("a");
    m.write();
    static_cast<void>(m.fsm.cancel(*a));
    m.read("+7\r\n");
    CHECK_HAPPENED(m, "down: a reply does not belong to its request");
}

BOOST_AUTO_TEST_CASE(a_timeout_ends_a_request_and_not_the_connection) {
    machine m;
    m.script("a");
    m.now += 1s;
    m.write();
    m.wait(2s);
    BOOST_TEST(m.take().empty());
    BOOST_TEST((m.fsm.wake_at() <= m.now + 1s));
    m.wait(1s);
    CHECK_HAPPENED(m, "a unknown");
    m.read("+1\r\n");
    m.script("b");
    m.write();
    m.read("+2\r\n");
    CHECK_HAPPENED(m, "b replied 2");
}

BOOST_AUTO_TEST_CASE(a_request_that_cannot_be_written_in_time_is_not_sent) {
    machine m;
    m.script("a");
    m.write_blocked();
    m.now += 1s;
    m.script("b");
    BOOST_TEST(m.write() == "");
    m.fsm.on_writable();
    m.wait(3s);
    CHECK_HAPPENED(m, "a unknown", "b not_sent");
    BOOST_TEST(m.write() == "");
}

BOOST_AUTO_TEST_CASE(what_a_handler_cancels_or_sends_does_not_disturb_the_others) {
    machine m;
    auto const a = m.script("a");
    auto const b = m.script("b");
    m.write();
    a->then = [&] {
        BOOST_TEST((m.fsm.cancel(*b) == request_end::unknown));
        m.script("c");
    };
    m.wait(3s);
    CHECK_HAPPENED(m, "a unknown");
    m.write();
    m.read("+1\r\n+2\r\n+3\r\n");
    CHECK_HAPPENED(m, "c replied 3");
}

BOOST_AUTO_TEST_CASE(a_handler_may_close) {
    machine m;
    auto const a = m.script("a");
    m.script("b");
    m.write();
    a->then = [&] { m.fsm.close(close_reason::stopped); };
    m.read("+1\r\n+2\r\n");
    CHECK_HAPPENED(m, "a replied 1", "b unknown", "down: closed by the client");
    m.script("c");
    CHECK_HAPPENED(m, "not taken");
}

BOOST_AUTO_TEST_CASE(requests_end_in_their_order_and_the_connection_last) {
    machine m;
    auto const a = m.script("a");
    m.script("b");
    m.write();
    m.script("c");
    a->then = [&] { m.script("too late"); };
    m.close();
    CHECK_HAPPENED(
        m,
        "a unknown",
        "not taken",
        "b unknown",
        "c not_sent",
        "down: closed by the client"
    );
    m.close();
    BOOST_TEST(m.take().empty());
}

BOOST_AUTO_TEST_CASE(an_incomplete_command_is_not_sent) {
    auto const a = eval("1").size();
    auto const all = a + evalsha("2").size();
    for (std::size_t taken = 0; taken <= all; ++taken) {
        machine m;
        m.script("a");
        m.script("b");
        BOOST_TEST(m.write(taken).size() == taken);
        m.close();
        CHECK_HAPPENED(
            m,
            taken < a ? "a not_sent" : "a unknown",
            taken < all ? "b not_sent" : "b unknown",
            "down: closed by the client"
        );
    }
}

BOOST_AUTO_TEST_CASE(the_rest_of_a_command_follows_and_counts) {
    machine m;
    m.script("a");
    auto sent = m.write(10);
    m.script("b");
    BOOST_TEST(m.write() == "");
    m.fsm.on_writable();
    sent += m.write(40);
    m.fsm.on_writable();
    sent += m.write();
    BOOST_TEST(sent == eval("1") + evalsha("2"));
    m.script("c");
    BOOST_TEST(m.write(1).size() == 1U);
    m.close();
    CHECK_HAPPENED(m, "a unknown", "b unknown", "c not_sent", "down: closed by the client");
}

BOOST_AUTO_TEST_CASE(what_a_stream_took_that_is_not_the_kernel_is_unknown) {
    machine m{{}, false};
    m.script("a");
    m.write_blocked();
    m.script("b");
    m.close();
    CHECK_HAPPENED(m, "a unknown", "b not_sent", "down: closed by the client");
}

BOOST_AUTO_TEST_CASE(a_burst_is_encoded_in_chunks) {
    machine m;
    for (int i = 0; i < 5000; ++i) {
        m.script("x");
    }
    auto const last = m.script("last");
    BOOST_TEST(m.fsm.to_write(m.now).size() < 70'000U);
    m.fsm.on_written(1, true, m.now);
    BOOST_TEST((m.fsm.cancel(*last) == request_end::not_sent));
}

BOOST_AUTO_TEST_CASE(a_server_that_reads_nothing_ends_the_connection) {
    machine m;
    m.script("a");
    m.write(1);
    m.wait(2s);
    m.fsm.on_writable();
    m.write(1);
    m.now += 1s;
    m.fsm.on_writable();
    m.write(0);
    m.fsm.on_time(m.now);
    BOOST_TEST((m.fsm.current() == state::up));
    CHECK_HAPPENED(m, "a unknown");
    m.wait(2s);
    CHECK_HAPPENED(m, "down: the server reads nothing");
}

BOOST_AUTO_TEST_CASE(too_many_unsent_bytes_end_the_connection) {
    machine m;
    std::string const long_word(1024 * 1024, 'x');
    m.submit(m.make<one_word>("a", long_word, false));
    m.write(1);
    m.finish_if_closing();
    CHECK_HAPPENED(m, "a not_sent", "down: too much waits to be sent");
}

BOOST_AUTO_TEST_CASE(the_number_of_requests_is_bounded) {
    connection_settings settings;
    settings.max_requests = 2;
    machine m{settings};
    auto const a = m.script("a");
    m.write();
    m.script("b");
    m.script("c");
    CHECK_HAPPENED(m, "not taken");
    // One that was cancelled waits for its reply.
    static_cast<void>(m.fsm.cancel(*a));
    m.script("c");
    CHECK_HAPPENED(m, "not taken");
    m.read("+1\r\n");
    m.script("c");
    BOOST_TEST(m.take().empty());
}

BOOST_AUTO_TEST_CASE(a_silent_server_ends_the_connection_after_two_timeouts) {
    machine m;
    m.script("a");
    m.write();
    m.now += 1s;
    m.script("b");
    m.write();
    m.wait(2s);
    CHECK_HAPPENED(m, "a unknown");
    // A push is no sign of life of what answers requests.
    m.read(published("c", "x"));
    m.wait(3s - 1ns);
    CHECK_HAPPENED(m, "push message c", "b unknown");
    BOOST_TEST((m.fsm.wake_at() == m.now + 1ns));
    m.wait(1ns);
    CHECK_HAPPENED(m, "down: no reply for two timeouts");
}

BOOST_AUTO_TEST_CASE(a_late_reply_proves_that_the_server_answers) {
    machine m;
    m.script("a");
    m.script("b");
    m.write();
    m.wait(5s);
    m.read("+1\r\n");
    m.wait(5s);
    BOOST_TEST((m.fsm.current() == state::up));
    m.wait(1s);
    BOOST_TEST((m.fsm.current() == state::closed));
}

BOOST_AUTO_TEST_CASE(a_ping_follows_a_time_without_replies) {
    machine m;
    BOOST_TEST((m.fsm.wake_at() == m.now + 2s));
    m.read(published("c", "x"));
    m.wait(2s);
    BOOST_TEST(m.write() == "*2\r\n$4\r\nPING\r\n$1\r\n1\r\n");
    m.wait(1s);
    m.read("+1\r\n");
    m.wait(2s - 1ns);
    BOOST_TEST(m.write() == "");
    m.wait(1ns);
    BOOST_TEST(m.write() == "*2\r\n$4\r\nPING\r\n$1\r\n2\r\n");
    m.read("-MISCONF x\r\n");
    BOOST_TEST((m.fsm.current() == state::up));
    m.wait(2s);
    m.write();
    m.read("+2\r\n");
    CHECK_HAPPENED(m, "push message c", "down: a reply does not belong to its request");
}

BOOST_AUTO_TEST_CASE(no_ping_is_sent_while_a_request_is_under_way) {
    machine m;
    m.script("a");
    m.write();
    m.wait(2s);
    BOOST_TEST(m.write() == "");
    m.read("+1\r\n");
    m.wait(2s);
    BOOST_TEST(m.write() == "*2\r\n$4\r\nPING\r\n$1\r\n2\r\n");
}

BOOST_AUTO_TEST_CASE(a_push_confirms_a_subscription) {
    machine m;
    m.channel("s", verb::subscribe, "c");
    m.script("a");
    m.channel("u", verb::unsubscribe, "c");
    m.channel("ss", verb::ssubscribe, "d");
    auto const sent = m.write();
    BOOST_TEST(sent.starts_with("*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n" + eval("2")));
    BOOST_TEST(sent.ends_with(
        "*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\nc\r\n*2\r\n$10\r\nSSUBSCRIBE\r\n$1\r\nd\r\n"
    ));
    m.read(push("subscribe", "c") + published("c", "x") + "+2\r\n");
    CHECK_HAPPENED(m, "s replied", "push message c", "a replied 2");
    m.read(push("unsubscribe", "c") + push("ssubscribe", "d"));
    CHECK_HAPPENED(m, "u replied", "ss replied");
}

BOOST_AUTO_TEST_CASE(an_error_refuses_a_subscription) {
    machine m;
    m.channel("s", verb::subscribe, "c");
    m.channel("u", verb::unsubscribe, "c");
    m.script("a");
    m.write();
    m.read("-NOPERM x\r\n-NOSUB y\r\n+3\r\n");
    CHECK_HAPPENED(m, "s refused NOPERM x", "u refused NOSUB y", "a replied 3");
}

BOOST_AUTO_TEST_CASE(a_confirmation_that_does_not_fit_ends_the_connection) {
    for (auto const& reply :
         {push("subscribe", "d"),
          push("unsubscribe", "c"),
          push("ssubscribe", "c"),
          ">3\r\n+subscribe\r\n_\r\n:0\r\n"s,
          ">1\r\n+subscribe\r\n"s,
          "+OK\r\n"s}) {
        BOOST_TEST_CONTEXT(reply) {
            machine m;
            m.channel("s", verb::subscribe, "c");
            m.write();
            m.read(reply);
            CHECK_HAPPENED(m, "s unknown", "down: a reply does not belong to its request");
        }
    }
    for (auto const& reply : {push("subscribe", "c"), push("unsubscribe", "c")}) {
        machine idle;
        idle.read(reply);
        CHECK_HAPPENED(idle, "down: a reply does not belong to its request");
        machine busy;
        busy.script("a");
        busy.write();
        busy.read(reply);
        CHECK_HAPPENED(busy, "a unknown", "down: a reply does not belong to its request");
    }
}

BOOST_AUTO_TEST_CASE(pushes_that_are_not_known_are_counted) {
    machine m;
    m.read(">2\r\n+invalidate\r\n*1\r\n+k\r\n>1\r\n+MOVING\r\n");
    BOOST_TEST(m.fsm.unknown_pushes() == 2U);
    BOOST_TEST(m.take().empty());
    m.read(">2\r\n+message\r\n+c\r\n");
    CHECK_HAPPENED(m, "down: the peer does not speak RESP3");
}

BOOST_AUTO_TEST_CASE(a_flood_is_reported_once_a_second) {
    connection_settings settings;
    settings.push_limit = 100;
    machine m{settings};
    auto const message = published("c", std::string(30, 'x'));
    for (int i = 0; i < 4; ++i) {
        m.read(message);
    }
    CHECK_HAPPENED(
        m,
        "push message c",
        "flood",
        "push message c",
        "push message c",
        "push message c"
    );
    m.now += 1s;
    m.read(message);
    CHECK_HAPPENED(m, "push message c");
    m.read(message);
    CHECK_HAPPENED(m, "flood", "push message c");
}

BOOST_AUTO_TEST_CASE(a_push_handler_may_close) {
    machine m;
    m.at_push = [&] { m.fsm.close(close_reason::stopped); };
    m.read(published("c", "x") + published("c", "y"));
    CHECK_HAPPENED(m, "push message c", "down: closed by the client");
}

BOOST_AUTO_TEST_SUITE(fence)

namespace {

struct fenced : machine {
    fenced() {
        submit(make<sunsubscribe_request>("u", "c"));
        script("a");
        sent = write();
    }
    std::string sent;
    std::string const gone = push("sunsubscribe", "c");
};

}  // namespace

BOOST_AUTO_TEST_CASE(is_an_echo_behind_the_command) {
    fenced m;
    BOOST_TEST(
        m.sent ==
        "*2\r\n$12\r\nSUNSUBSCRIBE\r\n$1\r\nc\r\n*2\r\n$4\r\nECHO\r\n$2\r\nu1\r\n" + eval("2")
    );
    m.read(m.gone);
    CHECK_HAPPENED(m, "push sunsubscribe c");
    m.read("$2\r\nu1\r\n+2\r\n");
    CHECK_HAPPENED(m, "u replied u1", "a replied 2");
}

BOOST_AUTO_TEST_CASE(stands_an_unasked_push_and_an_error) {
    for (auto const* const error : {"MOVED 1 h:1", "CLUSTERDOWN x", "NOSUB y"}) {
        fenced m;
        m.read(m.gone + "-" + error + "\r\n$2\r\nu1\r\n+2\r\n");
        CHECK_HAPPENED(m, "push sunsubscribe c", "u replied u1", "a replied 2");
    }
}

BOOST_AUTO_TEST_CASE(stands_an_error_of_the_command) {
    fenced m;
    m.read("-BUSY x\r\n$2\r\nu1\r\n+2\r\n");
    CHECK_HAPPENED(m, "u replied u1", "a replied 2");
}

BOOST_AUTO_TEST_CASE(ends_at_its_own_error) {
    fenced after_push;
    after_push.read(after_push.gone + "-NOPERM echo\r\n+2\r\n");
    CHECK_HAPPENED(after_push, "push sunsubscribe c", "u refused NOPERM echo", "a replied 2");
    fenced two_errors;
    two_errors.read("-BUSY x\r\n-BUSY y\r\n+2\r\n");
    CHECK_HAPPENED(two_errors, "u refused BUSY y", "a replied 2");
    fenced moved;
    moved.read("-MOVED 1 h:1\r\n-LOADING x\r\n+2\r\n");
    CHECK_HAPPENED(moved, "u refused LOADING x", "a replied 2");
}

BOOST_AUTO_TEST_CASE(accepts_no_other_echo) {
    for (auto const* const reply : {"+u2\r\n", "+1\r\n", ":1\r\n", "_\r\n"}) {
        fenced m;
        m.read(m.gone + reply);
        CHECK_HAPPENED(
            m,
            "push sunsubscribe c",
            "u unknown",
            "a unknown",
            "down: a reply does not belong to its request"
        );
    }
}

BOOST_AUTO_TEST_CASE(a_push_of_another_channel_is_none_of_its) {
    fenced m;
    m.read(push("sunsubscribe", "d") + "-BUSY x\r\n$2\r\nu1\r\n+2\r\n");
    CHECK_HAPPENED(m, "push sunsubscribe d", "u replied u1", "a replied 2");
}

BOOST_AUTO_TEST_CASE(what_was_sent_without_the_echo_may_be_executed) {
    machine m;
    m.submit(m.make<sunsubscribe_request>("u", "c"));
    m.write("*2\r\n$12\r\nSUNSUBSCRIBE\r\n$1\r\nc\r\n"s.size());
    m.close();
    CHECK_HAPPENED(m, "u unknown", "down: closed by the client");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
