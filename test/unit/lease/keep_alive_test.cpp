// One coroutine that looks after many leases: who is called when, and that it ends when nothing is
// left, or with its context.

#include "lease/keep_alive.hpp"

#include "unit/lease/test_sleeper.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::detail::guarded_executor;
using holdfast::detail::keep_alive;
using holdfast::detail::time_point;
using holdfast::detail::wake_time;
using holdfast::test::test_sleeper;

namespace {

constexpr auto at_once = time_point::min();
time_point far() {
    return lease_clock::now() + 1h;
}

struct counted_ends final : keep_alive::observer {
    void on_end(keep_alive const&) noexcept override { ++number; }

    int number = 0;
};

struct world {
    std::optional<boost::asio::io_context> context{std::in_place};
    std::shared_ptr<keep_alive> keeper =
        std::make_shared<keep_alive>(guarded_executor{context->get_executor()});
    std::shared_ptr<counted_ends> ends = std::make_shared<counted_ends>();

    std::shared_ptr<test_sleeper> add(wake_time at) {
        auto made = std::make_shared<test_sleeper>();
        BOOST_TEST(keeper->add(*made, at));
        return made;
    }
    void start() {
        BOOST_TEST(keeper->start(ends));
        run();
    }
    void run() {
        context->restart();
        context->poll();
    }
    // Whether `io_context::run` would go on.
    bool busy() {
        run();
        return !context->stopped();
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(keep_alive_test)

BOOST_AUTO_TEST_CASE(who_is_not_due_is_waited_for) {
    world on;
    auto const one = on.add(far());
    on.start();
    BOOST_TEST(one->calls == 0);
    BOOST_TEST(on.busy());
    BOOST_TEST(on.ends->number == 0);
    on.keeper->remove(*one);
    BOOST_TEST(!on.busy());
    BOOST_TEST(on.ends->number == 1);
    BOOST_TEST(one->gone == 0);
}

BOOST_AUTO_TEST_CASE(the_earliest_is_called_first) {
    world on;
    std::string order;
    auto const now = lease_clock::now();
    auto const second = on.add(now - 1s);
    auto const first = on.add(now - 2s);
    auto const third = on.add(now - 1ms);
    first->then = [&] { order += "1"; };
    second->then = [&] { order += "2"; };
    third->then = [&] { order += "3"; };
    on.start();
    BOOST_TEST(order == "123");
}

BOOST_AUTO_TEST_CASE(who_may_be_early_is_called_with_who_is_due) {
    world on;
    auto const now = lease_clock::now();
    auto const due = on.add(now);
    due->next = far();
    auto const willing = on.add({now + 30min, now});
    auto const punctual = on.add(now + 40min);
    // Behind one that has to wait.
    auto const late = on.add({now + 50min, now});
    on.start();
    BOOST_TEST(due->calls == 1);
    BOOST_TEST(willing->calls == 1);
    BOOST_TEST(punctual->calls == 0);
    BOOST_TEST(late->calls == 0);
    BOOST_TEST(on.busy());
    on.context.reset();
}

BOOST_AUTO_TEST_CASE(nobody_is_early_without_company) {
    world on;
    auto const now = lease_clock::now();
    auto const willing = on.add({now + 1h, now});
    on.start();
    BOOST_TEST(willing->calls == 0);
    // A wake-up that has nothing to do does not count.
    auto const woken = on.add(far());
    on.keeper->wake_at(*woken, now + 30min);
    on.run();
    BOOST_TEST(willing->calls == 0);
    on.context.reset();
}

BOOST_AUTO_TEST_CASE(a_wake_up_takes_no_more_than_a_hundred_for_company) {
    world on;
    auto const now = lease_clock::now();
    std::vector<std::shared_ptr<test_sleeper>> all{on.add(now)};
    for (int i = 0; i < 150; ++i) {
        all.push_back(on.add({now + 1h, now}));
    }
    on.start();
    int calls = 0;
    for (auto const& one : all) {
        calls += one->calls;
    }
    BOOST_TEST(calls == 100);
    on.context.reset();
}

BOOST_AUTO_TEST_CASE(who_is_added_to_one_that_sleeps_and_is_due_is_called) {
    world on;
    auto const late = on.add(far());
    on.start();
    auto const early = on.add(at_once);
    on.run();
    BOOST_TEST(early->calls == 1);
    BOOST_TEST(late->calls == 0);
    BOOST_TEST(on.busy());
    on.keeper->remove(*late);
    on.run();
}

BOOST_AUTO_TEST_CASE(one_that_sleeps_can_be_woken_but_not_put_off) {
    world on;
    auto const one = on.add(far());
    on.start();
    on.keeper->wake_at(*one, far() + 1h);
    on.run();
    BOOST_TEST(one->calls == 0);
    one->next = far();
    on.keeper->wake_at(*one, at_once);
    on.run();
    BOOST_TEST(one->calls == 1);
    on.keeper->remove(*one);
    // Who is not looked after stays so.
    on.keeper->wake_at(*one, at_once);
    on.run();
    BOOST_TEST(one->calls == 1);
}

BOOST_AUTO_TEST_CASE(one_that_is_woken_while_it_is_called_is_called_again) {
    world on;
    auto const one = on.add(at_once);
    one->next = far();
    one->then = [&] {
        if (one->calls == 1) {
            on.keeper->wake_at(*one, at_once);
        }
    };
    on.start();
    BOOST_TEST(one->calls == 2);
    on.keeper->remove(*one);
    on.run();
}

BOOST_AUTO_TEST_CASE(one_that_is_removed_while_it_is_called_is_not_called_again) {
    world on;
    auto const one = on.add(at_once);
    one->next = at_once;
    one->then = [&] { on.keeper->remove(*one); };
    on.start();
    BOOST_TEST(one->calls == 1);
    BOOST_TEST(!on.busy());
    BOOST_TEST(on.ends->number == 1);
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_call_leaves_what_runs_the_executor) {
    world on;
    auto const one = on.add(at_once);
    auto const other = on.add(far());
    one->then = [] { throw std::runtime_error{"not done"}; };
    BOOST_CHECK_THROW(on.start(), std::runtime_error);
    BOOST_TEST(one->calls == 1);
    // It has ended, and has let go of all that it looked after.
    BOOST_TEST(other->gone == 1);
    BOOST_TEST(on.ends->number == 1);
    BOOST_TEST(!on.keeper->add(*one, at_once));
    on.keeper->remove(*one);
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_tells_those_in_it) {
    for (bool const began : {false, true}) {
        world on;
        auto const one = on.add(far());
        auto const other = on.add(far());
        BOOST_TEST(on.keeper->start(on.ends));
        if (began) {
            on.run();
        }
        on.context.reset();
        BOOST_TEST(one->gone == 1);
        BOOST_TEST(other->gone == 1);
        BOOST_TEST(on.ends->number == 1);
        BOOST_TEST(!on.keeper->add(*one, at_once));
        // What comes too late does no harm.
        on.keeper->wake_at(*one, at_once);
        on.keeper->remove(*one);
    }
}

BOOST_AUTO_TEST_SUITE_END()
