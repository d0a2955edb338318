// The spans that examples/traces makes of what an observer is told, and that a collector gets them.

#include "../../../examples/traces/lock_tracer.hpp"
#include "../../../examples/traces/otlp_json.hpp"
#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace json = boost::json;
using asio::ip::tcp;
using holdfast::errc;
using holdfast::grant_kind;
using holdfast::loss_reason;
using holdfast::observer;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct traced {
    std::vector<json::object> spans() const {
        auto const text = traces::to_otlp_json("shop", finished->take());
        auto const sent = json::parse(text).at("resourceSpans").at(0);
        BOOST_TEST(sent.at_pointer("/resource/attributes/0/value/stringValue") == "shop");
        std::vector<json::object> result;
        for (auto const& each : sent.at_pointer("/scopeSpans/0/spans").as_array()) {
            result.push_back(each.as_object());
        }
        return result;
    }
    // As the library tells it: through the base class.
    observer& told() { return tracer; }

    std::shared_ptr<traces::finished_spans> finished = std::make_shared<traces::finished_spans>(4);
    traces::lock_tracer tracer{finished};
};

std::string text(json::object const& of, char const* key) {
    auto const* const found = of.if_contains(key);
    return found ? std::string{found->as_string()} : "";
}

std::string attribute(json::object const& of, std::string_view key) {
    for (auto const& each : of.at("attributes").as_array()) {
        if (each.at("key").as_string() == key) {
            return std::string{each.at_pointer("/value/stringValue").as_string()};
        }
    }
    return "";
}

std::string events(json::object const& of) {
    std::string all;
    for (auto const& each : of.at("events").as_array()) {
        all += (all.empty() ? "" : ", ") + std::string{each.at("name").as_string()};
    }
    return all;
}

std::string failure(json::object const& of) {
    if (!of.contains("status")) {
        return "";
    }
    BOOST_TEST(of.at("status").at("code") == 2);
    return std::string{of.at("status").at("message").as_string()};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(traces_test, traced)

BOOST_AUTO_TEST_CASE(a_lock_that_was_waited_for_and_held_is_two_spans_of_one_trace) {
    told().on_acquire({1, "a"});
    told().on_wait({1, "a"});
    told().on_grant({1, "a"}, {grant_kind::other_client, 5ms, {7}});
    told().on_renewal({"a", {7}}, 1ms);
    told().on_release({"a", {7}}, 5ms);
    auto const all = spans();
    BOOST_REQUIRE(all.size() == 2U);
    BOOST_TEST(text(all[0], "name") == "acquire");
    BOOST_TEST(attribute(all[0], "holdfast.lock") == "a");
    BOOST_TEST(attribute(all[0], "holdfast.result") == "granted");
    BOOST_TEST(attribute(all[0], "holdfast.grant") == "other_client");
    BOOST_TEST(attribute(all[0], "holdfast.token") == "7");
    BOOST_TEST(events(all[0]) == "wait");
    BOOST_TEST(text(all[0], "parentSpanId") == "");
    BOOST_TEST(text(all[1], "name") == "hold");
    BOOST_TEST(events(all[1]) == "renewed");
    BOOST_TEST(text(all[1], "parentSpanId") == text(all[0], "spanId"));
    BOOST_TEST(text(all[1], "traceId") == text(all[0], "traceId"));
    for (auto const& each : all) {
        BOOST_TEST(std::regex_match(text(each, "traceId"), std::regex{"[0-9a-f]{32}"}));
        BOOST_TEST(std::regex_match(text(each, "spanId"), std::regex{"[0-9a-f]{16}"}));
        BOOST_TEST(
            std::stoull(text(each, "startTimeUnixNano")) <=
            std::stoull(text(each, "endTimeUnixNano"))
        );
        BOOST_TEST(failure(each) == "");
    }
}

BOOST_AUTO_TEST_CASE(both_are_a_part_of_the_span_that_needed_the_lock) {
    auto const order = traces::new_span_context();
    traces::lock_tracer::begin_below(order);
    told().on_acquire({1, "a"});
    told().on_acquire({2, "b"});  // of something else
    told().on_grant({1, "a"}, {grant_kind::uncontended, 0ms, {7}});
    told().on_release({"a", {7}}, 5ms);
    told().on_no_grant({2, "b"}, {}, 1ms);
    auto const all = spans();
    BOOST_REQUIRE(all.size() == 3U);
    BOOST_TEST(text(all[0], "parentSpanId") != "");
    BOOST_TEST(text(all[0], "parentSpanId") == text(all[1], "parentSpanId"));
    BOOST_TEST(text(all[2], "parentSpanId") == "");
    BOOST_TEST(text(all[2], "traceId") != text(all[0], "traceId"));
}

BOOST_AUTO_TEST_CASE(what_fails_is_told_apart_from_what_is_given_up) {
    told().on_acquire({1, "a"});
    told().on_no_grant({1, "a"}, {}, 1ms);
    told().on_acquire({2, "a"});
    told().on_no_grant({2, "a"}, boost::asio::error::operation_aborted, 1ms);
    told().on_acquire({3, "a"});
    told().on_no_grant({3, "a"}, errc::unreachable, 1ms);
    auto const all = spans();
    BOOST_REQUIRE(all.size() == 3U);
    BOOST_TEST(attribute(all[0], "holdfast.result") == "busy");
    BOOST_TEST(failure(all[0]) == "");
    BOOST_TEST(attribute(all[1], "holdfast.result") == "cancelled");
    BOOST_TEST(failure(all[1]) == "");
    BOOST_TEST(failure(all[2]) == make_error_code(errc::unreachable).message());
}

BOOST_AUTO_TEST_CASE(a_loss_is_the_failure_of_what_was_held) {
    told().on_acquire({1, "a"});
    told().on_grant({1, "a"}, {grant_kind::uncontended, 0ms, {7}});
    told().on_doubt({"a", {7}});
    told().on_loss({"a", {7}}, loss_reason::expired);
    told().on_release({"a", {9}}, 5ms);  // a quorum may have raised the token
    auto const all = spans();
    BOOST_REQUIRE(all.size() == 2U);
    BOOST_TEST(events(all[1]) == "in doubt, lost");
    BOOST_TEST(failure(all[1]) == "lost: expired");
}

BOOST_AUTO_TEST_CASE(what_does_not_end_leaves_nothing_behind) {
    told().on_acquire({1, "permits"});
    told().on_grant({1, "permits"}, {grant_kind::uncontended, 0ms, {}});  // has no token
    told().on_acquire({2, "a"});
    told().on_grant({2, "a"}, {grant_kind::joined, 0ms, {7}});
    BOOST_TEST(spans().size() == 2U);
    told().on_release({"permits", {}}, 5ms);
    BOOST_TEST(finished->take().empty());
}

BOOST_AUTO_TEST_CASE(spans_that_nobody_takes_do_not_pile_up) {
    for (std::uint64_t i = 1; i <= 6; ++i) {
        told().on_acquire({i, "a"});
        told().on_no_grant({i, "a"}, {}, 1ms);
    }
    BOOST_TEST(finished->dropped() == 2U);
    BOOST_TEST(spans().size() == 4U);
}

// A stand-in for a collector: it takes what comes and says so.
BOOST_AUTO_TEST_CASE(a_collector_gets_the_spans_of_the_example) {
    redis_server const redis;
    asio::io_context context;
    tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
    auto const port = std::to_string(acceptor.local_endpoint().port());
    child_process example{{HOLDFAST_TRACES, "127.0.0.1", port, redis.url()}};

    std::vector<json::object> spans;
    while (spans.size() < 8) {
        tcp::socket socket{context};
        auto const deadline = std::chrono::steady_clock::now() + 60s;
        acceptor.non_blocking(true);
        boost::system::error_code nobody = asio::error::would_block;
        while (nobody && std::chrono::steady_clock::now() < deadline) {
            acceptor.accept(socket, nobody);
            std::this_thread::sleep_for(1ms);
        }
        BOOST_REQUIRE(!nobody);
        socket.non_blocking(false);
        std::string request;
        auto const header = asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n");
        BOOST_TEST(request.starts_with("POST /v1/traces HTTP/1.1\r\n"));
        BOOST_TEST((request.find("\r\nContent-Type: application/json\r\n") != request.npos));
        std::smatch length;
        BOOST_REQUIRE(std::regex_search(request, length, std::regex{"Content-Length: (\\d+)"}));
        auto const whole = header + std::stoul(length[1]);
        if (request.size() < whole) {
            asio::read(
                socket,
                asio::dynamic_buffer(request),
                asio::transfer_exactly(whole - request.size())
            );
        }
        auto const body = json::parse(request.substr(header));
        for (auto const& each : body.at_pointer("/resourceSpans/0/scopeSpans/0/spans").as_array()) {
            spans.push_back(each.as_object());
        }
        std::string const answer =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        asio::write(socket, asio::buffer(answer));
    }
    BOOST_TEST(example.wait(60s) == 0);
    BOOST_TEST(example.read_all().find("8 spans sent, 0 lost") != std::string::npos);

    // Each order had the lock, and was refused it once more.
    for (std::string const order : {"order of the first", "order of the second"}) {
        auto const is_order = [&](auto const& each) { return text(each, "name") == order; };
        auto const root = std::find_if(spans.begin(), spans.end(), is_order);
        BOOST_REQUIRE((root != spans.end()));
        std::string children;
        for (auto const& each : spans) {
            if (text(each, "parentSpanId") == text(*root, "spanId")) {
                children += text(each, "name") + ' ' + attribute(each, "holdfast.result") + ';';
                BOOST_TEST(text(each, "traceId") == text(*root, "traceId"));
            }
        }
        BOOST_TEST(children == "acquire granted;acquire busy;hold ;");
    }
}

BOOST_AUTO_TEST_SUITE_END()
