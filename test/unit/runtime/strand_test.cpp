// A strand on contexts of one thread and of several.

#include "runtime/strand.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using holdfast::detail::strand;
using holdfast::detail::strand_of;
using namespace std::chrono_literals;

namespace {

// Whether the strand knows its own code, and only that.
template <class Run>
void check(asio::any_io_executor const& of, Run run) {
    strand const one{of};
    strand const other{of};
    bool inside = false;
    bool beside = true;
    bool outside = true;
    BOOST_TEST(!one.running_in_this_thread());
    asio::post(one, [&] {
        inside = one.running_in_this_thread();
        beside = other.running_in_this_thread();
    });
    asio::post(of, [&] { outside = one.running_in_this_thread(); });
    run();
    BOOST_TEST(inside);
    BOOST_TEST(!beside);
    BOOST_TEST(!outside);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strand_test)

BOOST_AUTO_TEST_CASE(a_strand_knows_its_own_code_whatever_it_is_made_of) {
    asio::io_context context;
    auto const run = [&] {
        context.restart();
        context.poll();
    };
    check(context.get_executor(), run);
    check(asio::make_strand(context), run);
    check(asio::any_io_executor{asio::make_strand(context)}, run);
    asio::thread_pool pool{1};
    check(pool.get_executor(), [&] { pool.join(); });
}

BOOST_AUTO_TEST_CASE(it_is_an_executor_of_its_context) {
    asio::io_context context;
    asio::any_io_executor const of = context.get_executor();
    strand const one{of};
    asio::any_io_executor const erased = one;
    BOOST_TEST((&asio::query(erased, asio::execution::context) == &context));
    BOOST_TEST((erased == asio::any_io_executor{one}));
    BOOST_TEST((one != strand{of}));
    BOOST_TEST((one.inner() == of));
    // No larger than what an erased executor keeps in itself.
    BOOST_TEST(sizeof(strand) <= 3 * sizeof(void*));
}

BOOST_AUTO_TEST_CASE(a_strand_that_was_erased_is_found_again) {
    asio::io_context context;
    asio::any_io_executor const of = context.get_executor();
    strand const one{of};
    BOOST_TEST((strand_of(one) == one));
    BOOST_TEST((strand_of(of) != one));
    BOOST_TEST((strand_of(of).inner() == of));
}

BOOST_AUTO_TEST_CASE(who_asks_for_it_is_not_called_at_once) {
    asio::io_context context;
    strand const one{asio::any_io_executor{context.get_executor()}};
    auto const never = asio::require(one, asio::execution::blocking.never);
    BOOST_TEST((asio::query(one, asio::execution::blocking) == asio::execution::blocking.possibly));
    BOOST_TEST((asio::query(never, asio::execution::blocking) == asio::execution::blocking.never));
    BOOST_TEST((asio::require(never, asio::execution::blocking.possibly) == one));
    std::string ran;
    asio::post(context, [&] {
        never.execute([&] { ran += 'b'; });
        ran += 'a';
        one.execute([&] {
            never.execute([&] { ran += 'e'; });
            one.execute([&] { ran += 'c'; });
            ran += 'd';
        });
    });
    context.poll();
    BOOST_TEST(ran == "abcde");
}

BOOST_AUTO_TEST_CASE(what_is_posted_inside_runs_in_the_same_turn_of_the_context) {
    asio::io_context context;
    asio::any_io_executor const one = strand{asio::any_io_executor{context.get_executor()}};
    std::string ran;
    asio::post(one, [&] {
        asio::post(one, [&] { ran += 'b'; });
        asio::defer(one, [&] { ran += 'c'; });
        asio::dispatch(one, [&] { ran += 'a'; });
    });
    BOOST_TEST(ran == "");
    BOOST_TEST(context.poll_one() == 1U);
    BOOST_TEST(ran == "abc");
    BOOST_TEST(context.poll() == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_dispatched_runs_at_once_where_the_context_runs) {
    asio::io_context context;
    asio::any_io_executor const one = strand{asio::any_io_executor{context.get_executor()}};
    std::string ran;
    asio::dispatch(one, [&] { ran += 'a'; });
    BOOST_TEST(ran == "");
    asio::post(context, [&] {
        asio::dispatch(one, [&] { ran += 'b'; });
        BOOST_TEST(ran == "ab");
        asio::post(one, [&] { ran += 'c'; });
        BOOST_TEST(ran == "ab");
    });
    context.poll();
    BOOST_TEST(ran == "abc");
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_function) {
    asio::thread_pool pool{1};
    strand const one{
        asio::any_io_executor{asio::require(pool.get_executor(), asio::execution::blocking.always)}
    };
    BOOST_TEST((asio::query(one, asio::execution::blocking) == asio::execution::blocking.possibly));
    pool.join();
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_function_that_runs_at_once_leaves_the_strand_in_order) {
    asio::io_context context;
    strand const one{asio::any_io_executor{context.get_executor()}};
    std::string ran;
    asio::post(context, [&] {
        BOOST_CHECK_THROW(
            one.execute([&] {
                asio::post(one, [&] { ran += 'a'; });
                throw std::runtime_error{"not done"};
            }),
            std::runtime_error
        );
        BOOST_TEST(!one.running_in_this_thread());
        asio::post(one, [&] { ran += 'b'; });
        BOOST_TEST(ran == "");
    });
    context.poll();
    BOOST_TEST(ran == "ab");
}

BOOST_AUTO_TEST_CASE(its_functions_are_destroyed_with_the_context) {
    auto const owned = std::make_shared<int>();
    std::optional<asio::any_io_executor> outlives;
    {
        asio::io_context context;
        asio::any_io_executor const one = strand{asio::any_io_executor{context.get_executor()}};
        // Each function keeps the strand that it waits for.
        asio::post(one, [owned, one] {});
        asio::post(one, [owned, one] {});
        auto timer = std::make_shared<asio::steady_timer>(one, 1h);
        timer->async_wait([owned, one, timer](boost::system::error_code) {});
        outlives = one;
        BOOST_TEST(owned.use_count() == 4);
    }
    BOOST_TEST(owned.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_function_may_destroy_the_last_executor) {
    asio::io_context context;
    auto one =
        std::make_unique<asio::any_io_executor>(strand{asio::any_io_executor{context.get_executor()}
        });
    bool ran = false;
    asio::post(context, [&] {
        asio::dispatch(*one, [&] {
            one.reset();
            ran = true;
        });
    });
    context.poll();
    BOOST_TEST(ran);
}

BOOST_AUTO_TEST_CASE(a_borrowed_strand_is_the_strand) {
    asio::io_context context;
    strand const one{asio::any_io_executor{context.get_executor()}};
    strand const other{asio::any_io_executor{context.get_executor()}};
    auto const borrowed = one.borrow();
    BOOST_TEST((borrowed == one.borrow()));
    BOOST_TEST((borrowed != other.borrow()));
    BOOST_TEST((&asio::query(borrowed, asio::execution::context) == &context));
    std::string ran;
    asio::post(one, [&] { ran += 'a'; });
    asio::post(borrowed, [&] {
        ran += one.running_in_this_thread() ? 'b' : '-';
        asio::post(borrowed, [&] { ran += 'e'; });
        asio::dispatch(borrowed, [&] { ran += 'c'; });
        asio::dispatch(one, [&] { ran += 'd'; });
    });
    BOOST_TEST(!borrowed.running_in_this_thread());
    context.poll();
    BOOST_TEST(ran == "abcde");
}

BOOST_AUTO_TEST_CASE(a_function_of_a_borrowed_strand_may_destroy_what_keeps_it) {
    asio::io_context context;
    auto kept = std::make_unique<strand>(asio::any_io_executor{context.get_executor()});
    auto const borrowed = kept->borrow();
    std::string ran;
    asio::post(context, [&] {
        asio::dispatch(borrowed, [&] {
            asio::post(borrowed, [&] { ran += 'b'; });
            kept.reset();
            ran += 'a';
        });
    });
    context.poll();
    BOOST_TEST(ran == "ab");
}

// The thread that has posted it may be inside `execute` by then.
BOOST_AUTO_TEST_CASE(a_function_on_another_thread_may_destroy_what_keeps_a_borrowed_strand) {
    asio::thread_pool pool{1};
    std::atomic<int> ran = 0;
    constexpr int times = 5'000;
    for (int i = 0; i < times; ++i) {
        auto kept = std::make_shared<strand>(asio::any_io_executor{pool.get_executor()});
        auto const borrowed = kept->borrow();
        asio::post(borrowed, [&ran, kept = std::move(kept)]() mutable {
            kept.reset();
            ++ran;
        });
    }
    pool.join();
    BOOST_TEST(ran == times);
}

// One at a time, in the order of each thread, and each sees what was done before it.
BOOST_AUTO_TEST_CASE(functions_of_many_threads_run_one_at_a_time_and_in_order) {
    constexpr int threads = 4;
    constexpr int each = 20'000;
    asio::thread_pool pool{threads};
    asio::any_io_executor const one = strand{asio::any_io_executor{pool.get_executor()}};
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
                    asio::post(one, [&, thread, i] { step(thread, i); });
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
    asio::any_io_executor const one = strand{asio::any_io_executor{pool.get_executor()}};
    asio::any_io_executor const beside = pool.get_executor();
    int ended = 0;  // not atomic: changed on the strand
    std::function<void(int)> go = [&](int left) {
        if (left == 0) {
            ++ended;
        } else if (left % 3 == 0) {
            asio::post(beside, [&, left] { asio::dispatch(one, [&, left] { go(left - 1); }); });
        } else {
            asio::post(one, [&, left] { go(left - 1); });
        }
    };
    for (int i = 0; i < chains; ++i) {
        asio::post(one, [&] { go(length); });
    }
    pool.join();
    BOOST_TEST(ended == chains);
}

BOOST_AUTO_TEST_SUITE_END()
