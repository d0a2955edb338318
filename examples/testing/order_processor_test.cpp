// Tests of code that uses locks: no Redis, no sleeping, and every failure at the wanted moment.
// What takes a minute here is over in a millisecond.

#include "order_processor.hpp"

#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <future>
#include <map>
#include <ostream>
#include <string>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace shop {

std::ostream& operator<<(std::ostream& out, outcome what) {
    constexpr char const* names[]{"packed", "packed_before", "busy", "lost", "unavailable"};
    return out << names[static_cast<int>(what)];
}

}  // namespace shop

namespace {

using shop::outcome;

// What passes it waits while it is closed.
class gate {
public:
    explicit gate(asio::io_context& context) : opened_{context} { open(); }

    void open() { opened_.expires_at(asio::steady_timer::time_point::min()); }
    void close() { opened_.expires_at(asio::steady_timer::time_point::max()); }
    asio::awaitable<void> pass() { co_await opened_.async_wait(asio::as_tuple(asio::deferred)); }

private:
    asio::steady_timer opened_;
};

class table final : public shop::order_table {
public:
    explicit table(asio::io_context& context) : on_its_way_{context} {}

    asio::awaitable<bool> is_packed(int order) override { co_return rows_.contains(order); }
    asio::awaitable<bool> write(int order, std::string status, holdfast::fencing_token token)
        override {
        if (std::exchange(holds_next_, false)) {
            co_await on_its_way_.pass();
        }
        auto& there = rows_[order];
        if (token < there.written_with) {
            co_return false;
        }
        there = {std::move(status), token};
        co_return true;
    }
    [[nodiscard]] std::string status(int order) const {
        auto const at = rows_.find(order);
        return at == rows_.end() ? "open" : at->second.status;
    }

    /// The next request takes until `deliver()`; those behind it overtake it.
    void hold_next_write() {
        holds_next_ = true;
        on_its_way_.close();
    }
    void deliver() { on_its_way_.open(); }

private:
    struct row {
        std::string status;
        holdfast::fencing_token written_with;
    };

    std::map<int, row> rows_;
    gate on_its_way_;
    bool holds_next_ = false;
};

class line final : public shop::packing_line {
public:
    explicit line(asio::io_context& context) : runs{context} {}

    asio::awaitable<void> pack(int) override { co_await runs.pass(); }

    gate runs;
};

// Two processes of the shop, each with a client of its own.
struct shop_floor {
    shop_floor() { server.settle(); }

    std::future<outcome> start(shop::order_processor& by, int order) {
        auto result = asio::co_spawn(context, by.process(order), asio::use_future);
        server.settle();
        return result;
    }
    outcome result_of(std::future<outcome>& of) {
        BOOST_TEST_REQUIRE(
            server.advance_until([&] { return of.wait_for(0s) == std::future_status::ready; }, 1min)
        );
        return of.get();
    }
    outcome process(shop::order_processor& by, int order) {
        auto result = start(by, order);
        return result_of(result);
    }

    asio::io_context context;
    holdfast::testing::memory_server server{holdfast::testing::virtual_time};
    holdfast::client anns_locks{context, server};
    holdfast::client bobs_locks{context, server};
    table orders{context};
    line anns_line{context};
    line bobs_line{context};
    shop::order_processor ann{"ann", anns_locks, orders, anns_line};
    shop::order_processor bob{"bob", bobs_locks, orders, bobs_line};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_order_is_packed_once, shop_floor) {
    BOOST_TEST(process(ann, 7) == outcome::packed);
    BOOST_TEST(orders.status(7) == "packed by ann");
    BOOST_TEST(process(bob, 7) == outcome::packed_before);
    BOOST_TEST(!server.inspect("order:7").held);
}

BOOST_FIXTURE_TEST_CASE(an_order_that_another_has_is_left_to_it, shop_floor) {
    anns_line.runs.close();
    auto anns = start(ann, 7);
    BOOST_TEST(server.inspect("order:7").held);
    auto const began = holdfast::lease_clock::now();
    BOOST_TEST(process(bob, 7) == outcome::busy);
    BOOST_TEST((holdfast::lease_clock::now() - began == 2s));
    anns_line.runs.open();
    BOOST_TEST(result_of(anns) == outcome::packed);
}

BOOST_FIXTURE_TEST_CASE(packing_may_take_longer_than_a_lease, shop_floor) {
    anns_line.runs.close();
    auto anns = start(ann, 7);
    server.advance(1h);
    anns_line.runs.open();
    BOOST_TEST(result_of(anns) == outcome::packed);
}

BOOST_FIXTURE_TEST_CASE(whoever_has_lost_the_order_writes_nothing, shop_floor) {
    anns_line.runs.close();
    auto anns = start(ann, 7);
    server.pause();
    server.advance(1min);
    server.resume();
    anns_line.runs.open();
    BOOST_TEST(result_of(anns) == outcome::lost);
    BOOST_TEST(orders.status(7) == "open");
}

BOOST_FIXTURE_TEST_CASE(the_order_of_a_process_that_crashed_is_packed_later, shop_floor) {
    server.hold_as_other("order:7", 12s);
    BOOST_TEST(process(ann, 7) == outcome::busy);
    shop::order_processor patient{"carl", anns_locks, orders, anns_line, 1min};
    BOOST_TEST(process(patient, 7) == outcome::packed);
    BOOST_TEST(orders.status(7) == "packed by carl");
}

BOOST_FIXTURE_TEST_CASE(without_a_lock_server_orders_wait, shop_floor) {
    server.stop();
    BOOST_TEST(process(ann, 7) == outcome::unavailable);
    server.start();
    BOOST_TEST(process(ann, 7) == outcome::packed);
}

BOOST_FIXTURE_TEST_CASE(a_mistake_in_the_servers_rules_is_not_waited_for, shop_floor) {
    server.fail_next(holdfast::errc::auth_failed);
    auto result = start(ann, 7);
    BOOST_CHECK_THROW(result_of(result), boost::system::system_error);
}

BOOST_FIXTURE_TEST_CASE(an_order_is_packed_once_though_the_server_forgot_its_locks, shop_floor) {
    anns_line.runs.close();
    auto anns = start(ann, 7);
    server.lose_data();
    server.advance(1s);
    BOOST_TEST(process(bob, 7) == outcome::packed);
    anns_line.runs.open();
    BOOST_TEST(result_of(anns) == outcome::lost);
    BOOST_TEST(orders.status(7) == "packed by bob");
}

// The one that needs the token: the lease was valid when the request was sent.
BOOST_FIXTURE_TEST_CASE(a_write_that_comes_too_late_is_refused, shop_floor) {
    orders.hold_next_write();
    auto anns = start(ann, 7);
    server.jump(1min);  // the machine stands still, and nobody renews the lease
    BOOST_TEST(process(bob, 7) == outcome::packed);
    orders.deliver();
    BOOST_TEST(result_of(anns) == outcome::lost);
    BOOST_TEST(orders.status(7) == "packed by bob");
}
