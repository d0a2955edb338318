// Each allocation that the library makes on behalf of an operation fails, one at a time. (Not
// those that Asio makes to post a function, and to copy the executor of a strand on a strand, as
// with_lease needs one: a strand that cannot go on ends the program.) The
// exception (`std::bad_alloc`; Asio's `bad_executor` where it copies an executor without memory)
// comes out of the initiating function, or out of what runs the executor; whichever it is, nobody
// gets a lock that he does not have, nothing throws that must not, and what is left on the server
// is gone by the end of the lease.

#include "simulation/scenes.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <type_traits>

using namespace holdfast;
using namespace holdfast::sim;

namespace {

thread_local bool counting = false;
thread_local std::size_t counted = 0;
thread_local std::size_t fails_at = 0;

void* allocate(std::size_t size) {
    if (counting && !own_business::any() && ++counted == fails_at) {
        throw std::bad_alloc();
    }
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
    return allocate(size);
}
void* operator new[](std::size_t size) {
    return allocate(size);
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    try {
        return allocate(size);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}
void operator delete(void* memory, std::nothrow_t const&) noexcept {
    std::free(memory);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

struct tally {
    std::size_t allocations = 0;
    std::size_t thrown_by_the_call = 0;
    std::size_t thrown_by_a_handler = 0;
    std::size_t survived = 0;
};

// The world steps; only what runs in a process is the library's.
bool step(scene& one, bool& thrown) {
    try {
        return one.on().in().step();
    } catch (std::exception const&) {
        thrown = true;
        return true;
    }
}

// The call, once it is done or has had the time for it.
template <class... Results, class Start>
std::shared_ptr<call<Results...>> answer(scene& one, bool& thrown, Start start) {
    auto& who = one.first();
    auto const asked = who.make_call<Results...>();
    who.run([&] { start(who, asked->token()); });
    for (auto const end = one.on().in().now() + 10s; one.on().in().now() < end && !asked->done;) {
        if (!step(one, thrown)) {
            break;
        }
    }
    return asked;
}

// The same key is acquired again by the same client, and asked about: nothing stands in the way.
void check_goes_on(scene& one, bool& thrown) {
    auto const check = [&one](auto const& asked) {
        // Memory that was missing may stop a client in the middle of its shutdown.
        bool const stopped =
            (asked.error == errc::client_stopped || asked.error == errc::lease_lost) && one.stops();
        BOOST_TEST((asked.done && (!asked.error || stopped)), asked.error.message());
    };
    auto const again = answer<lease>(one, thrown, [](actor& who, auto token) {
        who.lock("lock").acquire(std::move(token));
    });
    check(*again);
    check(*answer<lock_info>(one, thrown, [](actor& who, auto token) {
        who.lock("lock").inspect(std::move(token));
    }));
    one.first().run([&] { again->results.reset(); });
}

// Connections may have ended, but what has ended is not counted among those that wait for one.
void check_places(scene& one, bool& thrown) {
    auto const asked = answer<lock_info>(one, thrown, [](actor& who, auto token) {
        who.lock("lock").inspect(std::move(token));
    });
    BOOST_TEST((asked->error != errc::too_many_waiters));
}

// True if there was an allocation of this number.
bool run_one(scene& one, std::size_t number, tally& all) {
    one.prepare();
    BOOST_REQUIRE(!one.on().in().failed());
    counted = 0;
    fails_at = number;
    bool thrown_by_call = false;
    bool thrown_by_handler = false;
    counting = true;
    try {
        one.begin();
    } catch (std::exception const&) {
        thrown_by_call = true;
    }
    for (int steps = 0; steps < 20'000 && !one.done(); ++steps) {
        if (one.on().in().now() > 60s || !step(one, thrown_by_handler)) {
            break;
        }
    }
    counting = false;
    bool const failed = counted >= number;
    all.thrown_by_the_call += thrown_by_call ? 1 : 0;
    all.thrown_by_a_handler += thrown_by_handler ? 1 : 0;
    all.survived += failed && !thrown_by_call && !thrown_by_handler ? 1 : 0;
    // Without an exception for the user it has to complete.
    bool const told = one.done() || thrown_by_call || thrown_by_handler;
    BOOST_TEST(told);
    one.end();
    // Beyond the end of the lease, with what is left of the client.
    for (auto const end = one.on().in().now() + 8s; one.on().in().now() < end;) {
        if (!step(one, thrown_by_handler)) {
            break;
        }
    }
    // Asio starts what a coroutine awaits after the coroutine was suspended: an exception there
    // ends the coroutine, that of a connection too, and comes out of what runs the executor.
    if (!thrown_by_handler) {
        check_goes_on(one, thrown_by_handler);
    } else {
        check_places(one, thrown_by_handler);
    }
    auto left = one.on().close_all();
    if (thrown_by_call || thrown_by_handler) {
        left.clear();  // what the handler would have done is missing
    }
    BOOST_TEST(left == "");
    one.on().run_for(8s);
    BOOST_TEST(one.on().on().data().lock_keys().empty());
    BOOST_TEST(one.on().in().first_violation() == "");
    return failed;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_allocation_that_fails_costs_one_operation_and_no_lock) {
    tally all;
    auto each = [&]<class Scene>(char const* name) {
        if (std::is_base_of_v<guarded, Scene>) {
            return;
        }
        auto const before = all;
        bool more = true;
        for (std::size_t number = 1; more; ++number) {
            BOOST_TEST_CONTEXT(name << ", allocation " << number) {
                Scene one;
                more = run_one(one, number, all);
                all.allocations += more ? 1 : 0;
            }
        }
        BOOST_TEST(all.allocations > before.allocations);
        fmt::print(
            "{:<28} {:>4} allocations: {:>3} thrown by the call, {:>3} by a handler, {:>3} "
            "survived\n",
            name,
            all.allocations - before.allocations,
            all.thrown_by_the_call - before.thrown_by_the_call,
            all.thrown_by_a_handler - before.thrown_by_a_handler,
            all.survived - before.survived
        );
    };
    for_each_scene(each);
    fmt::print("{} allocations failed\n", all.allocations);
}
