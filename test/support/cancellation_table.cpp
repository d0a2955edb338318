#include "support/cancellation_table.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace holdfast::test {

namespace {

std::string name_of(operation op) {
    char const* const names[]{
        "acquire",
        "try_acquire",
        "try_acquire_for",
        "renew",
        "release",
        "wait_lost",
        "inspect",
        "ready",
        "shutdown"
    };
    return names[static_cast<int>(op)];
}

std::string name_of(cancellation_type type) {
    switch (type) {
        case cancellation_type::terminal: return "terminal";
        case cancellation_type::partial: return "partial";
        case cancellation_type::total: return "total";
        default: return "all types";
    }
}

task run_cell(cell& c, cell_test const& test, operation op, cancellation_type type, int& left) {
    try {
        co_await c.client.ready();
        co_await test(c, op, type);
        co_await c.nothing_left();
    } catch (std::exception const& e) {
        BOOST_ERROR(c.what << ": " << e.what());
    }
    --left;
}

}  // namespace

bool needs_lease(operation op) {
    return op == operation::renew || op == operation::release || op == operation::wait_lost;
}

cell::cell(redis_server& shared, asio::any_io_executor on, int number, std::string name)
    : executor{std::move(on)},
      what{std::move(name)},
      server{shared, "cell-" + std::to_string(number) + ":"},
      client{server.make_client(executor)} {}

void cell::check(bool holds, char const* expectation) const {
    BOOST_CHECK_MESSAGE(holds, what << ": " << expectation);
}

task cell::hold(std::string name) {
    lease = co_await client.lock(name).acquire();
}

void cell::close_gate(bool executed) {
    server.hold_replies(executed);
    server.hold_requests(!executed);
}

void cell::open_gates() {
    server.hold_replies(false);
    server.hold_requests(false);
}

task cell::nothing_left() {
    auto const clean = [this] {
        auto const now = client.stats();
        return now.waiters_now == 0 && now.subscriptions_now == 0 && now.leases_now == 0 &&
               server.subscriptions() == 0 && server.lock_keys().empty();
    };
    auto const is_clean = co_await until(clean);
    check(is_clean, "leaves nothing behind");
    if (!is_clean) {
        auto const now = client.stats();
        BOOST_TEST_MESSAGE(
            what << ": waiters " << now.waiters_now << ", subscriptions " << now.subscriptions_now
                 << " (server: " << server.subscriptions() << "), leases " << now.leases_now
                 << ", keys " << server.lock_keys().size()
        );
    }
}

void for_each_cell(
    std::vector<operation> const& operations,
    std::vector<cancellation_type> const& types,
    cell_test const& test
) {
    auto const run = [&](redis_server& server, asio::any_io_executor executor) -> task {
        co_await teach_scripts(server, executor);
        std::vector<std::unique_ptr<cell>> cells;
        int left = 0;
        for (auto const op : operations) {
            for (auto const type : types) {
                auto const number = ++left;
                auto const name = name_of(op) + ", " + name_of(type);
                cells.push_back(std::make_unique<cell>(server, executor, number, name));
                auto running = run_cell(*cells.back(), test, op, type, left);
                asio::co_spawn(executor, std::move(running), asio::detached);
            }
        }
        BOOST_TEST(co_await co_eventually(60s, [&] { return left == 0; }));
    };
    with_server(run, 60s);
}

task ends_at_once(cell& c, call& pending, cancellation_type type) {
    co_await c.settle();
    c.check(!pending.done(), "(setup) is pending");
    pending.signal.emit(type);
    auto const done = co_await c.until([&] { return pending.done(); });
    c.check(done && pending.aborted(), "completes at once with operation_aborted");
}

}  // namespace holdfast::test
