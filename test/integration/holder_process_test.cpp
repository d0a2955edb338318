// A process that is stopped or killed while it holds a lock.

#include "support/child_process.hpp"
#include "support/one_server.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace holdfast::test;
using steady_clock = std::chrono::steady_clock;

namespace {

// test/support/holder.cpp as another process.
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

BOOST_AUTO_TEST_CASE(a_stopped_process_finds_its_lease_lost_at_the_first_look) {
    redis_server server;
    holder_process holder{server};
    auto const first = holder.says();
    BOOST_TEST(first.starts_with("token "));
    auto const old_token = std::stoull(first.substr(6));
    holder.process().pause();
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire();
        // So a store refuses what the other one writes.
        BOOST_TEST(lease.token().value > old_token);
        // Longer than what the child takes for a pause, also if it renewed just before.
        co_await sleep_for(800ms);
        holder.process().resume();
        BOOST_TEST(holder.says() == "invalid");
        BOOST_TEST(holder.says() == "lost");
        BOOST_TEST(holder.says() == "released: lease_lost");
        BOOST_TEST(server.probe().hgetall("a").size() == 1U);
        // That release did not disturb it.
        co_await lease.renew();
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
    BOOST_TEST(holder.process().wait() == 0);
}

BOOST_AUTO_TEST_CASE(a_killed_holder_is_succeeded_within_its_lease_and_a_second) {
    redis_server server;
    holder_process holder{server};
    auto const old_token = std::stoull(holder.says().substr(6));
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.fallback_poll_interval = 1h;
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
