// The destruction of a context waits for the posts that are under way. Later posts are refused.

#include "runtime/guarded_executor.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::detail::context_gate;
using holdfast::detail::guarded_executor;

BOOST_AUTO_TEST_SUITE(guarded_executor_test)

BOOST_AUTO_TEST_CASE(it_lets_posts_through_while_the_context_lives) {
    asio::io_context context;
    guarded_executor const executor{context.get_executor()};
    bool ran = false;
    BOOST_TEST(executor.while_alive([&] { asio::post(executor.get(), [&] { ran = true; }); }));
    context.run();
    BOOST_TEST(ran);
}

BOOST_AUTO_TEST_CASE(nothing_is_called_once_the_context_is_being_destroyed) {
    std::optional<asio::io_context> context{std::in_place};
    guarded_executor const executor{context->get_executor()};
    // What waits in the context is dropped after its services were shut down.
    std::optional<bool> at_the_end;
    asio::post(*context, [dropped = std::shared_ptr<void>{nullptr, [&](void*) {
                                                              at_the_end =
                                                                  executor.while_alive([] {});
                                                          }}] {});
    context.reset();
    BOOST_TEST((at_the_end == false));
    bool called = false;
    BOOST_TEST(!executor.while_alive([&] { called = true; }));
    BOOST_TEST(!called);
}

BOOST_AUTO_TEST_CASE(executors_of_a_context_share_its_gate) {
    asio::io_context context;
    asio::io_context other;
    auto const gate = context_gate::of(context);
    BOOST_TEST(context_gate::of(context) == gate);
    BOOST_TEST(context_gate::of(other) != gate);
    gate->close();
    BOOST_TEST(!guarded_executor{asio::make_strand(context)}.while_alive([] {}));
    BOOST_TEST(guarded_executor{other.get_executor()}.while_alive([] {}));
}

BOOST_AUTO_TEST_CASE(a_thread_may_be_inside_twice) {
    asio::io_context context;
    guarded_executor const executor{context.get_executor()};
    bool inner = false;
    BOOST_TEST(executor.while_alive([&] { inner = executor.while_alive([] {}); }));
    BOOST_TEST(inner);
}

BOOST_AUTO_TEST_CASE(one_that_throws_has_left) {
    asio::io_context context;
    guarded_executor const executor{context.get_executor()};
    BOOST_CHECK_THROW(static_cast<void>(executor.while_alive([] { throw 1; })), int);
    context_gate::of(context)->close();
}

BOOST_AUTO_TEST_CASE(the_end_waits_for_who_is_inside) {
    auto context = std::make_unique<asio::io_context>();
    guarded_executor const executor{context->get_executor()};
    std::promise<void> entered;
    std::promise<void> leave;
    std::atomic<bool> left{false};
    std::thread poster{[&] {
        static_cast<void>(executor.while_alive([&] {
            entered.set_value();
            leave.get_future().wait();
            left = true;
        }));
    }};
    entered.get_future().wait();
    auto ended = std::async(std::launch::async, [&] {
        context.reset();
        return left.load();
    });
    BOOST_TEST((ended.wait_for(20ms) == std::future_status::timeout));
    leave.set_value();
    poster.join();
    BOOST_TEST(ended.get());
}

// For ThreadSanitizer: without the gate, the post and the end of the context race.
BOOST_AUTO_TEST_CASE(a_context_may_go_while_another_thread_posts_to_it) {
    for (int round = 0; round < 200; ++round) {
        auto context = std::make_unique<asio::io_context>();
        guarded_executor const executor{context->get_executor()};
        std::atomic<bool> posting{false};
        std::thread poster{[&] {
            auto const post = [&] { asio::post(executor.get(), [] {}); };
            while (executor.while_alive(post)) {
                posting = true;
            }
        }};
        while (!posting) {
            std::this_thread::yield();
        }
        context.reset();
        poster.join();
    }
}

BOOST_AUTO_TEST_SUITE_END()
