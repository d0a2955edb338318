// The driver: when bytes are written, in which turn requests and events are called, and how a
// connection ends.

#include "resp/connection.hpp"

#include "unit/resp/machine.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace holdfast::test;
using namespace holdfast::detail::resp;
using namespace std::chrono_literals;
using holdfast::error_code;
using holdfast::lease_clock;
namespace asio = boost::asio;

namespace {

/// What a test does with a connection's stream.
struct wire {
    explicit wire(asio::io_context& on) : context{on} {}

    asio::io_context& context;
    std::vector<std::string> writes;
    std::size_t takes = std::string::npos;  // bytes of the next writes
    bool takes_all = false;                 // as TLS does
    error_code connect_error;
    error_code write_error;
    bool closed = false;
    byte_stream::handler writable;
    byte_stream::read_handler reader;
    std::span<char> space;

    void feed(std::string_view bytes) {
        std::copy(bytes.begin(), bytes.end(), space.begin());
        complete_read({}, bytes.size());
    }
    void complete_read(error_code ec, std::size_t size) {
        if (reader) {
            asio::post(context, [done = std::move(reader), ec, size]() mutable {
                std::move(done)(ec, size);
            });
        }
    }
    void complete_write(error_code ec = {}) {
        if (writable) {
            asio::post(context, [done = std::move(writable), ec]() mutable {
                std::move(done)(ec);
            });
        }
    }
};

class wired_stream final : public byte_stream {
public:
    explicit wired_stream(wire& to) : to_{to} {}

    void async_connect(endpoint const&, handler on_connected) override {
        asio::post(to_.context, [ec = to_.connect_error, done = std::move(on_connected)]() mutable {
            std::move(done)(ec);
        });
    }
    write_result write(std::string_view bytes) override {
        if (to_.write_error) {
            return {0, false, to_.write_error};
        }
        auto const taken = std::min(bytes.size(), to_.takes);
        to_.writes.emplace_back(bytes.substr(0, taken));
        return {taken, to_.takes_all || taken < bytes.size(), {}};
    }
    void async_wait_writable(handler on_writable) override {
        to_.writable = std::move(on_writable);
    }
    void async_read_some(std::span<char> to, read_handler on_read) override {
        to_.space = to;
        to_.reader = std::move(on_read);
    }
    void close() noexcept override {
        to_.closed = true;
        to_.complete_read(asio::error::operation_aborted, 0);
        to_.complete_write(asio::error::operation_aborted);
    }
    bool taken_by_kernel() const noexcept override { return !to_.takes_all; }

private:
    wire& to_;
};

/// A connection that is up, on a stream of the test.
struct driven : connection_events {
    explicit driven(bool open = true, bool connect = true) {
        if (connect) {
            driver->connect({}, lease_clock::now() + 1min);
            run();
        }
        if (open) {
            driver->open();
        }
        log.clear();
    }
    ~driven() {
        driver->close();
        run();
    }

    asio::io_context context;
    wire stream{context};
    happened log;
    std::shared_ptr<connection> driver = std::make_shared<connection>(
        context.get_executor(),
        std::make_unique<wired_stream>(stream),
        connection_settings{},
        *this
    );

    /// Runs what is ready.
    void run() {
        context.restart();
        context.poll();
    }
    std::shared_ptr<noted<plain_script>> send(std::string name) {
        auto one = std::make_shared<noted<plain_script>>(log, std::move(name), "hash", 3s);
        if (!driver->send(one)) {
            log.push_back("not taken");
        }
        return one;
    }
    happened take() { return std::exchange(log, {}); }
    std::size_t writes() { return std::exchange(stream.writes, {}).size(); }

    void on_connected() override { log.push_back("connected"); }
    void on_push(message const&) override { log.push_back("push"); }
    void on_turn_end() override { log.push_back("turn of " + std::to_string(writes())); }
    void on_down(close_reason why, error_code) override {
        log.push_back("down: " + std::string{describe(why)});
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(connection_test)

BOOST_AUTO_TEST_CASE(a_lone_request_leaves_at_once_and_the_next_ones_together) {
    driven d;
    d.send("a");
    BOOST_TEST(d.writes() == 1U);
    d.send("b");
    d.send("c");
    BOOST_TEST(d.writes() == 0U);
    d.run();
    CHECK_HAPPENED(d, "turn of 1");
}

BOOST_AUTO_TEST_CASE(what_is_sent_in_a_turn_leaves_in_one_write) {
    driven d;
    d.driver->turn([&] {
        d.send("a");
        d.driver->turn([&] { d.send("b"); });
        BOOST_TEST(d.stream.writes.empty());
    });
    CHECK_HAPPENED(d, "turn of 1");
}

BOOST_AUTO_TEST_CASE(what_replies_cause_leaves_in_one_write_behind_them) {
    driven d;
    auto const a = d.send("a");
    auto const b = d.send("b");
    d.run();
    d.take();
    a->then = [&] { d.send("c"); };
    b->then = [&] { d.send("d"); };
    d.stream.feed("+1\r\n+2\r\n");
    d.run();
    CHECK_HAPPENED(d, "a replied 1", "b replied 2", "turn of 1");
    BOOST_TEST(static_cast<bool>(d.stream.reader));
}

BOOST_AUTO_TEST_CASE(the_rest_of_a_short_write_follows_when_the_stream_is_writable) {
    driven d;
    d.stream.takes = 10;
    d.send("a");
    BOOST_TEST(d.stream.writes.size() == 1U);
    BOOST_TEST(static_cast<bool>(d.stream.writable));
    d.send("b");
    d.run();
    CHECK_HAPPENED(d, "turn of 1");
    d.stream.takes = std::string::npos;
    d.stream.complete_write();
    d.run();
    // The rest, and what came meanwhile.
    CHECK_HAPPENED(d, "turn of 2");
}

BOOST_AUTO_TEST_CASE(a_stream_that_takes_all_has_one_write_at_a_time) {
    driven d{false, false};
    d.stream.takes_all = true;
    d.driver->connect({}, lease_clock::now() + 1min);
    d.run();
    d.driver->open();
    d.take();
    d.send("a");
    d.send("b");
    d.run();
    CHECK_HAPPENED(d, "turn of 1");
    d.stream.complete_write();
    d.run();
    CHECK_HAPPENED(d, "turn of 1");
    d.driver->close();
    d.run();
    CHECK_HAPPENED(d, "a unknown", "b unknown", "down: closed by the client");
}

BOOST_AUTO_TEST_CASE(closing_calls_no_handler_inside_the_call_or_after_the_end) {
    driven d;
    d.send("a");
    d.driver->close();
    BOOST_TEST(d.take().empty());
    d.send("b");
    CHECK_HAPPENED(d, "not taken");
    d.run();
    CHECK_HAPPENED(d, "a unknown", "down: closed by the client");
    BOOST_TEST(d.stream.closed);
    d.driver->close();
    d.run();
    BOOST_TEST(d.take().empty());
    BOOST_TEST(d.driver.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(an_end_of_the_stream_ends_the_connection) {
    driven d;
    d.send("a");
    d.stream.complete_read(asio::error::eof, 0);
    d.run();
    CHECK_HAPPENED(d, "a unknown", "down: the connection ended");
    BOOST_TEST(d.stream.closed);
}

BOOST_AUTO_TEST_CASE(a_failed_write_ends_the_connection_after_the_call) {
    driven d;
    d.stream.write_error = asio::error::broken_pipe;
    d.send("a");
    BOOST_TEST(d.take().empty());
    d.run();
    CHECK_HAPPENED(d, "a not_sent", "down: cannot send");
}

BOOST_AUTO_TEST_CASE(a_failed_wait_ends_the_connection) {
    driven d;
    d.stream.takes = 1;
    d.send("a");
    d.stream.complete_write(asio::error::connection_reset);
    d.run();
    CHECK_HAPPENED(d, "a not_sent", "down: cannot send");
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_refused_is_down) {
    driven d{false, false};
    d.stream.connect_error = asio::error::connection_refused;
    d.driver->connect({}, lease_clock::now() + 1min);
    d.run();
    CHECK_HAPPENED(d, "down: cannot connect");
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_closed_while_it_connects_is_down) {
    driven d{false, false};
    d.driver->connect({}, lease_clock::now() + 1min);
    d.driver->close();
    d.run();
    BOOST_TEST(d.log.back() == "down: closed by the client");
    BOOST_TEST(d.stream.closed);
}

BOOST_AUTO_TEST_CASE(the_timer_ends_what_takes_too_long) {
    driven slow{false, false};
    slow.driver->connect({}, lease_clock::now() + 5ms);
    slow.context.restart();
    slow.context.run_for(5s);
    CHECK_HAPPENED(slow, "connected", "turn of 0", "down: connecting took too long");
}

BOOST_AUTO_TEST_CASE(an_exception_leaves_the_function_that_runs_and_ends_the_connection) {
    driven d;
    auto const a = d.send("a");
    d.send("b");
    d.run();
    d.take();
    a->then = [] { throw std::runtime_error{"from a handler"}; };
    d.stream.feed("+1\r\n+2\r\n");
    d.context.restart();
    BOOST_CHECK_THROW(d.context.poll(), std::runtime_error);
    d.run();
    CHECK_HAPPENED(d, "a replied 1", "b unknown", "down: an exception was thrown");
}

BOOST_AUTO_TEST_SUITE_END()
