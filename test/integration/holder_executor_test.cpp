// The executor of a holder is the user's. It is destroyed outside of every mutex, and its context
// may be destroyed while another thread tells the holder something.

#include "support/one_server.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

using namespace holdfast::test;

namespace {

/// Calls something when the last of the executors that have it is destroyed.
class farewell {
public:
    explicit farewell(std::function<void()> say) : say_{std::move(say)} {}
    farewell(farewell const&) = delete;
    farewell& operator=(farewell const&) = delete;
    ~farewell() { say_(); }

private:
    std::function<void()> say_;
};

/// An executor of a context, with a farewell.
class parting_executor {
public:
    parting_executor(asio::io_context& context, std::shared_ptr<farewell> last)
        : context_{&context},
          last_{std::move(last)} {}

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    template <class Function>
    void execute(Function&& function) const {
        asio::post(*context_, std::forward<Function>(function));
    }
    bool operator==(parting_executor const&) const noexcept = default;

private:
    asio::io_context* context_;
    std::shared_ptr<farewell> last_;
};

/// Whether another thread can look at the lease now. If not, it waits for a mutex of the lease.
bool can_look_at(std::shared_ptr<holdfast::lease> const& held) {
    auto looked = std::make_shared<std::promise<void>>();
    auto done = looked->get_future();
    std::thread{[held, looked] {
        static_cast<void>(held->state());
        static_cast<void>(held->loss());
        looked->set_value();
    }}.detach();
    return done.wait_for(2s) == std::future_status::ready;
}

enum class ending { released, dropped, lost, shut_down };

}  // namespace

BOOST_AUTO_TEST_CASE(a_holders_executor_is_destroyed_while_nobody_waits_for_the_lease) {
    redis_server server;
    for (auto const end : {ending::released, ending::dropped, ending::lost, ending::shut_down}) {
        std::optional<bool> could_look;
        auto const held = std::make_shared<holdfast::lease>();
        asio::io_context context;
        holdfast::client client{context, server.url()};
        client.lock("a:{}", static_cast<int>(end))
            .acquire(asio::bind_executor(
                parting_executor{context, std::make_shared<farewell>([&] {
                                     could_look = can_look_at(held);
                                 })},
                [held](error_code, holdfast::lease granted) { *held = std::move(granted); }
            ));
        auto const run_until = [&](auto holds) {
            for (int i = 0; i < 5'000 && !holds(); ++i) {
                context.run_one_for(1ms);
            }
            return holds();
        };
        BOOST_REQUIRE(run_until([&] { return held->valid(); }));
        BOOST_REQUIRE(!could_look);  // the grant has a copy
        switch (end) {
            case ending::released: held->release([](error_code) {}); break;
            case ending::dropped: *held = {}; break;
            case ending::lost:
                server.probe().flushall();
                held->renew([](error_code) {});
                BOOST_TEST(run_until([&] { return held->loss() == loss_reason::deleted; }));
                *held = {};
                break;
            case ending::shut_down: client.shutdown([](error_code) {}); break;
        }
        run_until([&] { return could_look.has_value(); });
        *held = {};
        BOOST_REQUIRE(run_until([&] { return could_look.has_value(); }));
        BOOST_TEST(*could_look, static_cast<int>(end));
    }
}

// The holder's context, with the lease in it, is destroyed while the client's thread tells of the
// loss, or shortly before or after. Mostly for the sanitizers.
BOOST_AUTO_TEST_CASE(a_holders_context_may_go_while_the_client_tells_of_a_loss) {
    constexpr int rounds = 300;
    redis_server server;
    asio::thread_pool clients{1};
    for (int round = 0; round < rounds; ++round) {
        holdfast::client client{clients, server.url()};
        auto holders = std::make_unique<asio::io_context>();
        bool held = false;
        auto const hold = [&]() -> task {
            auto lease = co_await client.lock("a").acquire();
            held = true;
            static_cast<void>(co_await lease.wait_lost(as_result));
            co_await sleep_for(1h);
        };
        asio::co_spawn(*holders, hold, asio::detached);
        while (!held) {
            holders->run_one();
        }
        // Asio may not be done with the context when the handler that it has posted runs there.
        asio::post(clients, asio::use_future).get();
        auto stopped = client.shutdown(asio::use_future);
        for (int i = 0; i < round % 10; ++i) {
            holders->poll_one();
        }
        holders.reset();
        stopped.get();
    }
    clients.join();
    BOOST_TEST(server.probe().lock_keys().empty());
}
