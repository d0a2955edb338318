// Which contexts a test runs, and until when.

#include "memory_server/test_contexts.hpp"

#include "runtime/runtime.hpp"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <stdexcept>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::detail::timer;
using holdfast::detail::virtual_time;
using holdfast::memory::io_context_of;
using holdfast::memory::test_contexts;

BOOST_AUTO_TEST_SUITE(test_contexts_test)

BOOST_AUTO_TEST_CASE(a_context_is_known_by_its_executors) {
    asio::io_context context;
    asio::any_io_executor const plain = context.get_executor();
    BOOST_TEST(io_context_of(plain) == &context);
    BOOST_TEST(io_context_of(asio::make_strand(context)) == &context);
    BOOST_TEST(io_context_of(asio::make_strand(plain)) == &context);
    BOOST_TEST(
        io_context_of(asio::prefer(plain, asio::execution::outstanding_work.tracked)) == &context
    );
    asio::thread_pool pool{1};
    BOOST_TEST(io_context_of(pool.get_executor()) == nullptr);
    BOOST_TEST(io_context_of(asio::make_strand(pool)) == nullptr);
    BOOST_TEST(io_context_of({}) == nullptr);
}

BOOST_AUTO_TEST_CASE(all_contexts_run_until_none_has_anything_ready) {
    asio::io_context one;
    asio::io_context two;
    auto& all = test_contexts::all();
    auto const first = all.add(one.get_executor());
    auto second = all.add(two.get_executor());
    int left = 5;
    std::function<void()> to_and_fro = [&] {
        if (--left > 0) {
            asio::post(left % 2 == 0 ? one : two, to_and_fro);
        }
    };
    asio::post(one, to_and_fro);
    all.settle();
    BOOST_TEST(left == 0);
    // Its work keeps a context from stopping.
    BOOST_TEST(!two.stopped());
    second.reset();
    BOOST_TEST(two.poll() == 0U);
    BOOST_TEST(two.stopped());
    // One that is not a client's any more is left alone.
    bool ran = false;
    two.restart();
    asio::post(two, [&] { ran = true; });
    all.settle();
    BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_CASE(a_stopped_context_is_restarted_unless_its_own_handler_stopped_it) {
    asio::io_context context;
    auto& all = test_contexts::all();
    auto const one = all.add(context.get_executor());
    bool ran = false;
    context.stop();
    asio::post(context, [&] { ran = true; });
    all.settle();
    BOOST_TEST(ran);

    ran = false;
    asio::post(context, [&] {
        context.stop();
        asio::post(context, [&] { ran = true; });
        all.settle();
    });
    context.run();
    BOOST_TEST(!ran);
    context.restart();
    context.poll();
}

BOOST_AUTO_TEST_CASE(timers_that_are_due_fire) {
    asio::io_context context;
    virtual_time::watch const watch{true};
    auto& all = test_contexts::all();
    auto const one = all.add(context.get_executor());
    timer sleep{context};
    sleep.expires_after(1h);
    bool fired = false;
    sleep.async_wait([&](auto ec) { fired = !ec; });
    all.settle();
    BOOST_TEST(!fired);
    virtual_time::move_to(lease_clock::now() + 1h);
    all.settle();
    BOOST_TEST(fired);

    // Where the context is run by somebody else.
    fired = false;
    sleep.expires_after(1h);
    sleep.async_wait([&](auto ec) { fired = !ec; });
    context.poll();
    virtual_time::move_to(lease_clock::now() + 1h);
    all.look_at_clock();
    while (!fired && context.run_one() > 0) {
    }
    BOOST_TEST(fired);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_is_an_error) {
    asio::thread_pool pool{1};
    auto& all = test_contexts::all();
    {
        auto const one = all.add(pool.get_executor());
        BOOST_CHECK_THROW(all.settle(), std::logic_error);
    }
    all.settle();
}

BOOST_AUTO_TEST_SUITE_END()
