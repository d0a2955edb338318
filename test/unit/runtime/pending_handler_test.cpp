// A user's handler until it is called: on its own executor, never inside `complete`, once.

#include "runtime/pending_handler.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace asio = boost::asio;
using holdfast::detail::pending_handler;

namespace {

// Runs things at once, and counts them.
struct inline_executor {
    int* count;

    template <class F>
    void execute(F f) const {
        ++*count;
        f();
    }
    friend bool operator==(inline_executor const&, inline_executor const&) noexcept = default;
};

// Never runs things at once, also where it could.
struct posting_executor {
    asio::io_context* to;

    template <class F>
    void execute(F&& f) const {
        asio::post(*to, std::forward<F>(f));
    }
    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return *to;
    }
    static constexpr asio::execution::blocking_t::never_t query(asio::execution::blocking_t
    ) noexcept {
        return {};
    }
    friend bool operator==(posting_executor const&, posting_executor const&) noexcept = default;
};

// Counts what is taken from it.
template <class T>
struct counting_allocator {
    using value_type = T;
    int* count;

    explicit counting_allocator(int* of) noexcept : count{of} {}
    template <class U>
    counting_allocator(counting_allocator<U> const& other) noexcept : count{other.count} {}

    T* allocate(std::size_t n) {
        ++*count;
        return std::allocator<T>{}.allocate(n);
    }
    void deallocate(T* at, std::size_t n) noexcept { std::allocator<T>{}.deallocate(at, n); }
    friend bool operator==(counting_allocator const&, counting_allocator const&) noexcept = default;
};

bool has_work(asio::io_context& context) {
    context.restart();
    context.poll();
    return !context.stopped();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pending_handler_test)

BOOST_AUTO_TEST_CASE(it_is_never_called_inside_complete_even_by_an_executor_that_runs_things_at_once
) {
    asio::io_context relay;
    int ran = 0;
    int got = 0;
    pending_handler<int> waiting{
        asio::bind_executor(inline_executor{&ran}, [&](int value) { got = value; }),
        relay.get_executor()
    };
    waiting.complete(7);
    BOOST_TEST(got == 0);
    BOOST_TEST(ran == 0);
    relay.poll();
    BOOST_TEST(got == 7);
    BOOST_TEST(ran == 1);
}

BOOST_AUTO_TEST_CASE(it_is_called_on_its_own_executor) {
    asio::io_context relay;
    asio::io_context own;
    bool called = false;
    pending_handler<> waiting{
        asio::bind_executor(own.get_executor(), [&] { called = true; }),
        relay.get_executor()
    };
    waiting.complete();
    relay.poll();
    BOOST_TEST(!called);
    own.poll();
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(without_an_executor_of_its_own_it_is_called_on_the_relay) {
    asio::io_context relay;
    bool called = false;
    pending_handler<> waiting{[&] { called = true; }, relay.get_executor()};
    waiting.complete();
    BOOST_TEST(!called);
    relay.poll();
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(an_executor_that_is_the_relay_is_posted_to_once) {
    asio::io_context context;
    asio::any_io_executor const relay = posting_executor{&context};
    bool called = false;
    pending_handler<> waiting{asio::bind_executor(relay, [&] { called = true; }), relay};
    waiting.complete();
    BOOST_TEST(!called);
    BOOST_TEST(context.poll_one() == 1U);
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(it_is_kept_in_memory_of_its_allocator) {
    asio::io_context relay;
    int taken = 0;
    bool called = false;
    pending_handler<> waiting{
        asio::bind_allocator(counting_allocator<void>{&taken}, [&] { called = true; }),
        relay.get_executor()
    };
    BOOST_TEST(taken == 1);
    waiting.complete();
    relay.poll();
    BOOST_TEST(called);
}

// Why the posts of a handler do not use its allocator: Asio's own do not either.
BOOST_AUTO_TEST_CASE(an_erased_executor_takes_no_allocator) {
    asio::io_context context;
    int taken = 0;
    asio::post(context.get_executor(), asio::bind_allocator(counting_allocator<void>{&taken}, [] {
               }));
    BOOST_TEST(taken > 0);
    taken = 0;
    asio::post(
        asio::any_io_executor{context.get_executor()},
        asio::bind_allocator(counting_allocator<void>{&taken}, [] {})
    );
    BOOST_TEST(taken == 0);
    context.poll();
}

BOOST_AUTO_TEST_CASE(it_keeps_its_executor_busy_until_it_is_called) {
    asio::io_context relay;
    asio::io_context own;
    BOOST_TEST(!has_work(own));
    pending_handler<> waiting{asio::bind_executor(own.get_executor(), [] {}), relay.get_executor()};
    BOOST_TEST(has_work(own));
    waiting.complete();
    BOOST_TEST(has_work(own));
    relay.poll();
    own.poll();
    BOOST_TEST(!has_work(own));
}

BOOST_AUTO_TEST_CASE(one_that_is_dropped_keeps_nothing_busy) {
    asio::io_context own;
    auto const kept = std::make_shared<int>();
    {
        pending_handler<> const waiting{
            asio::bind_executor(own.get_executor(), [kept] {}),
            own.get_executor()
        };
        BOOST_TEST(static_cast<bool>(waiting));
    }
    BOOST_TEST(!has_work(own));
    BOOST_TEST(kept.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(it_is_called_once) {
    asio::io_context relay;
    int calls = 0;
    pending_handler<> waiting{[&] { ++calls; }, relay.get_executor()};
    waiting.complete();
    BOOST_TEST(!waiting);
    waiting.complete();
    pending_handler<>{}.complete();
    relay.poll();
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(it_can_be_cancelled_until_it_is_called) {
    asio::io_context relay;
    asio::cancellation_signal signal;
    int cancelled = 0;
    auto handler = [&] {
        // The operation is over: nobody listens.
        signal.emit(asio::cancellation_type::terminal);
    };
    pending_handler<> waiting{
        asio::bind_cancellation_slot(signal.slot(), handler),
        relay.get_executor()
    };
    waiting.on_cancel([&](asio::cancellation_type) { ++cancelled; });
    signal.emit(asio::cancellation_type::total);
    BOOST_TEST(cancelled == 1);
    waiting.complete();
    signal.emit(asio::cancellation_type::total);
    BOOST_TEST(cancelled == 2);
    relay.poll();
    BOOST_TEST(cancelled == 2);
}

BOOST_AUTO_TEST_SUITE_END()
