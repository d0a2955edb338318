// A strand on contexts of one thread and of several.

#include "runtime/eager_strand.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using holdfast::detail::eager_strand;
using strand_type = eager_strand<asio::io_context::executor_type>;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(eager_strand_test)

BOOST_AUTO_TEST_CASE(it_is_an_executor_of_its_context) {
    asio::io_context context;
    strand_type const strand{context.get_executor()};
    asio::any_io_executor const erased = strand;
    BOOST_TEST((&asio::query(erased, asio::execution::context) == &context));
    BOOST_TEST((erased == asio::any_io_executor{strand}));
    BOOST_TEST((strand != strand_type{context.get_executor()}));
    BOOST_TEST((strand.inner() == context.get_executor()));
    // No larger than what an erased executor keeps in itself.
    BOOST_TEST(sizeof(strand_type) <= 3 * sizeof(void*));
}

BOOST_AUTO_TEST_CASE(what_is_posted_inside_runs_in_the_same_turn_of_the_context) {
    asio::io_context context;
    asio::any_io_executor const strand = strand_type{context.get_executor()};
    std::string ran;
    asio::post(strand, [&] {
        asio::post(strand, [&] { ran += 'b'; });
        asio::defer(strand, [&] { ran += 'c'; });
        asio::dispatch(strand, [&] { ran += 'a'; });
    });
    BOOST_TEST(ran == "");
    BOOST_TEST(context.poll_one() == 1U);
    BOOST_TEST(ran == "abc");
    BOOST_TEST(context.poll() == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_dispatched_runs_at_once_where_the_context_runs) {
    asio::io_context context;
    asio::any_io_executor const strand = strand_type{context.get_executor()};
    std::string ran;
    asio::dispatch(strand, [&] { ran += 'a'; });
    BOOST_TEST(ran == "");
    asio::post(context, [&] {
        asio::dispatch(strand, [&] { ran += 'b'; });
        BOOST_TEST(ran == "ab");
        asio::post(strand, [&] { ran += 'c'; });
        BOOST_TEST(ran == "ab");
    });
    context.poll();
    BOOST_TEST(ran == "abc");
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_function) {
    asio::thread_pool pool{1};
    auto const waits = asio::require(pool.get_executor(), asio::execution::blocking.always);
    eager_strand const strand{waits};
    BOOST_TEST((asio::query(strand, asio::execution::blocking) == asio::execution::blocking.possibly));
    pool.join();
}

BOOST_AUTO_TEST_CASE(it_keeps_its_context_busy_when_that_is_asked_for) {
    asio::io_context context;
    auto busy = std::optional<asio::any_io_executor>{asio::prefer(
        asio::any_io_executor{strand_type{context.get_executor()}},
        asio::execution::outstanding_work.tracked
    )};
    context.poll();
    BOOST_TEST(!context.stopped());
    busy.reset();
    context.poll();
    BOOST_TEST(context.stopped());
}

BOOST_AUTO_TEST_CASE(its_functions_are_destroyed_with_the_context) {
    auto const owned = std::make_shared<int>();
    std::optional<asio::any_io_executor> outlives;
    {
        asio::io_context context;
        asio::any_io_executor const strand = strand_type{context.get_executor()};
        // Each function keeps the strand that it waits for.
        asio::post(strand, [owned, strand] {});
        asio::post(strand, [owned, strand] {});
        auto timer = std::make_shared<asio::steady_timer>(strand, 1h);
        timer->async_wait([owned, strand, timer](boost::system::error_code) {});
        outlives = strand;
        BOOST_TEST(owned.use_count() == 4);
    }
    BOOST_TEST(owned.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_function_may_destroy_the_last_executor) {
    asio::io_context context;
    auto strand = std::make_unique<asio::any_io_executor>(strand_type{context.get_executor()});
    bool ran = false;
    asio::post(context, [&] {
        asio::dispatch(*strand, [&] {
            strand.reset();
            ran = true;
        });
    });
    context.poll();
    BOOST_TEST(ran);
}

// One at a time, in the order of each thread, and each sees what was done before it.
BOOST_AUTO_TEST_CASE(functions_of_many_threads_run_one_at_a_time_and_in_order) {
    constexpr int threads = 4;
    constexpr int each = 20'000;
    asio::thread_pool pool{threads};
    asio::any_io_executor const strand = eager_strand{pool.get_executor()};
    std::vector<int> next(threads);
    std::atomic<bool> inside = false;
    int wrong = 0;
    int total = 0;  // not atomic: only one function runs at a time
    auto const step = [&](std::size_t thread, int number) {
        wrong += inside.exchange(true) ? 1 : 0;
        wrong += next[thread]++ == number ? 0 : 1;
        ++total;
        inside = false;
    };
    {
        std::vector<std::jthread> all;
        for (std::size_t thread = 0; thread < threads; ++thread) {
            all.emplace_back([&, thread] {
                for (int i = 0; i < each; ++i) {
                    asio::post(strand, [&, thread, i] { step(thread, i); });
                    if (i % 1'000 == 0) {
                        // The queue runs empty now and then.
                        std::this_thread::sleep_for(100us);
                    }
                }
            });
        }
    }
    pool.join();
    BOOST_TEST(wrong == 0);
    BOOST_TEST(total == threads * each);
}

BOOST_AUTO_TEST_CASE(chains_of_posts_from_many_threads_all_come_to_their_end) {
    constexpr int chains = 8;
    constexpr int length = 5'000;
    asio::thread_pool pool{4};
    asio::any_io_executor const strand = eager_strand{pool.get_executor()};
    asio::any_io_executor const beside = pool.get_executor();
    int ended = 0;  // not atomic: changed on the strand
    std::function<void(int)> go = [&](int left) {
        if (left == 0) {
            ++ended;
        } else if (left % 3 == 0) {
            asio::post(beside, [&, left] { asio::dispatch(strand, [&, left] { go(left - 1); }); });
        } else {
            asio::post(strand, [&, left] { go(left - 1); });
        }
    };
    for (int i = 0; i < chains; ++i) {
        asio::post(strand, [&] { go(length); });
    }
    pool.join();
    BOOST_TEST(ended == chains);
}

BOOST_AUTO_TEST_SUITE_END()
