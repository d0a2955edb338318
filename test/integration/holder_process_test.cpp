// A process that is stopped or killed while it holds a lock.

#include "support/child_process.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::error_code;
using holdfast::test::child_process;
using holdfast::test::co_eventually;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;
using holdfast::test::sleep_for;
using steady_clock = std::chrono::steady_clock;

namespace {

constexpr auto awaited = asio::use_awaitable;

// test/programs/holder.cpp as another process.
class holder_process {
public:
    explicit holder_process(redis_server const& server)
        : child_{{HOLDFAST_TEST_HOLDER, server.url()}} {}

    // The next line that the child says.
    std::string says() {
        if (auto const line = child_.read_line(20s)) {
            return *line;
        }
        throw std::runtime_error{"the child has ended"};
    }

    child_process& process() { return child_; }

private:
    child_process child_;
};

}  // namespace

// 92

BOOST_AUTO_TEST_CASE(fault_92_a_stopped_process_finds_its_lease_lost_at_the_first_look) {
    redis_server server;
    holder_process holder{server};
    auto const first = holder.says();
    BOOST_TEST(first.starts_with("token "));
    auto const old_token = std::stoull(first.substr(6));
    holder.process().pause();
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire(awaited);
        BOOST_TEST(
            lease.token().value > old_token
        );  // so a store refuses what the other one writes
        co_await sleep_for(800ms
        );  // longer than the child's idea of a pause, renewed just before or not
        holder.process().resume();
        BOOST_TEST(holder.says() == "invalid");
        BOOST_TEST(holder.says() == "lost");
        BOOST_TEST(holder.says() == "released: lease_lost");
        BOOST_TEST(server.probe().hgetall("a").size() == 1U);
        co_await lease.renew(awaited);  // not disturbed by that release
        BOOST_TEST(lease.valid());
        co_await lease.release(awaited);
    });
    BOOST_TEST(holder.process().wait() == 0);
}

// 98

BOOST_AUTO_TEST_CASE(fault_98_a_killed_holder_is_succeeded_within_its_lease_and_a_second) {
    redis_server server;
    holder_process holder{server};
    auto const old_token = std::stoull(holder.says().substr(6));
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.fallback = 1h;
        holdfast::client client{executor, settings};
        std::optional<holdfast::lease> successor;
        client.lock("a").acquire([&](error_code, holdfast::lease granted) {
            successor = std::move(granted);
        });
        co_await sleep_for(1'500ms);  // longer than its lease: it is renewed
        BOOST_TEST(!successor.has_value());
        BOOST_TEST(holder.process().kill() == -SIGKILL);
        auto const killed = steady_clock::now();
        BOOST_TEST(co_await co_eventually(10s, [&] { return successor.has_value(); }));
        BOOST_TEST((steady_clock::now() - killed <= 2s));
        BOOST_TEST(successor->valid());
        BOOST_TEST(successor->token().value > old_token);
    });
}
