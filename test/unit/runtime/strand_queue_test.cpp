// Who gets the turn, what it runs, and what is left for the next one.

#include "runtime/strand_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using holdfast::detail::strand_queue;

namespace {

// A queue whose turns are taken when the test says so.
struct fixture {
    strand_queue queue;
    int scheduled = 0;
    bool refuses = false;
    std::string ran;

    auto schedule() {
        return [this] {
            if (refuses) {
                throw std::bad_alloc{};
            }
            ++scheduled;
        };
    }
    template <class Function>
    void add(Function f) {
        queue.add(std::move(f), schedule());
    }
    void add_letter(char letter) {
        add([this, letter] { ran += letter; });
    }
    void take_turn() {
        BOOST_TEST_REQUIRE(scheduled == 1);
        scheduled = 0;
        queue.run(schedule());
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(strand_queue_test)

BOOST_FIXTURE_TEST_CASE(
    the_first_function_has_a_turn_scheduled_and_the_others_wait_for_it,
    fixture
) {
    add_letter('a');
    add_letter('b');
    add_letter('c');
    BOOST_TEST(scheduled == 1);
    BOOST_TEST(ran == "");
    take_turn();
    BOOST_TEST(ran == "abc");
    BOOST_TEST(scheduled == 0);
    // Nobody has the right any more.
    add_letter('d');
    take_turn();
    BOOST_TEST(ran == "abcd");
}

BOOST_FIXTURE_TEST_CASE(what_a_function_adds_comes_behind_what_waits_in_the_same_turn, fixture) {
    add([&] {
        ran += 'a';
        BOOST_TEST(queue.runs_in_this_thread());
        add_letter('c');
        BOOST_TEST(ran == "a");
    });
    add_letter('b');
    BOOST_TEST(!queue.runs_in_this_thread());
    take_turn();
    BOOST_TEST(ran == "abc");
    BOOST_TEST(scheduled == 0);
}

BOOST_FIXTURE_TEST_CASE(what_another_thread_added_before_comes_before, fixture) {
    add([&] {
        std::jthread{[&] { add_letter('b'); }}.join();
        add_letter('c');
        std::jthread{[&] { add_letter('d'); }}.join();
    });
    take_turn();
    BOOST_TEST(ran == "bcd");
    BOOST_TEST(scheduled == 0);
}

BOOST_FIXTURE_TEST_CASE(functions_that_add_each_other_leave_the_thread_to_the_context, fixture) {
    int count = 0;
    std::function<void()> again = [&] {
        if (++count < 1'000) {
            add(again);
        }
    };
    add(again);
    int turns = 0;
    for (; scheduled != 0; ++turns) {
        take_turn();
    }
    BOOST_TEST(count == 1'000);
    BOOST_TEST(turns > 1'000 / (strand_queue::most_added_in_a_turn + 2));
    BOOST_TEST(turns < 1'000 / (strand_queue::most_added_in_a_turn - 2));
}

// They came from others, and are not what the turn has made for itself.
BOOST_FIXTURE_TEST_CASE(all_that_waits_when_the_turn_begins_is_run_in_it, fixture) {
    for (int i = 0; i < 1'000; ++i) {
        add_letter('x');
    }
    take_turn();
    BOOST_TEST(ran == std::string(1'000, 'x'));
    BOOST_TEST(scheduled == 0);
}

// A context that is being destroyed.
BOOST_FIXTURE_TEST_CASE(a_turn_that_the_context_drops_at_once_takes_the_functions_along, fixture) {
    auto const owned = std::make_shared<int>();
    auto const drops = [&] { queue.abandon(); };
    queue.add([owned, this] { ran += 'a'; }, drops);
    BOOST_TEST(owned.use_count() == 1);
    // Nor is there another turn when one has been long enough.
    add([&] {
        for (int i = 0; i < 2 * strand_queue::most_added_in_a_turn; ++i) {
            add([owned, this] { ran += 'b'; });
        }
    });
    BOOST_TEST_REQUIRE(scheduled == 1);
    scheduled = 0;
    queue.run(drops);
    BOOST_TEST(owned.use_count() == 1);
    BOOST_TEST(ran == std::string(strand_queue::most_added_in_a_turn, 'b'));
    ran.clear();
    // Nobody has the right to run functions.
    add_letter('c');
    take_turn();
    BOOST_TEST(ran == "c");
}

// Where the context lets the turn run at once.
BOOST_FIXTURE_TEST_CASE(
    an_exception_in_a_turn_that_is_taken_inside_is_that_of_a_function,
    fixture
) {
    auto const owned = std::make_shared<int>();
    auto const throws = [&, owned] {
        ran += 'a';
        add_letter('b');
        throw std::runtime_error{"not done"};
    };
    BOOST_CHECK_THROW(queue.add(throws, [&] { queue.run(schedule()); }), std::runtime_error);
    BOOST_TEST(ran == "a");
    BOOST_TEST(owned.use_count() == 2);
    take_turn();
    BOOST_TEST(ran == "ab");
}

BOOST_FIXTURE_TEST_CASE(an_exception_leaves_the_rest_to_another_turn, fixture) {
    add_letter('a');
    add([&] {
        add_letter('c');
        throw std::runtime_error{"a user's"};
    });
    add_letter('b');
    BOOST_CHECK_THROW(take_turn(), std::runtime_error);
    BOOST_TEST(!queue.runs_in_this_thread());
    BOOST_TEST(ran == "a");
    take_turn();
    BOOST_TEST(ran == "abc");

    add([] { throw std::runtime_error{"the last one"}; });
    BOOST_CHECK_THROW(take_turn(), std::runtime_error);
    BOOST_TEST(scheduled == 0);
    add_letter('d');
    take_turn();
    BOOST_TEST(ran == "abcd");
}

BOOST_FIXTURE_TEST_CASE(without_memory_for_a_turn_nothing_was_added, fixture) {
    auto const owned = std::make_shared<int>();
    refuses = true;
    BOOST_CHECK_THROW(add([&, owned] { ran += 'a'; }), std::bad_alloc);
    BOOST_TEST(owned.use_count() == 1);
    refuses = false;
    add_letter('b');
    take_turn();
    BOOST_TEST(ran == "b");
}

// Who schedules the turn fails; somebody else had counted on it.
BOOST_FIXTURE_TEST_CASE(what_others_added_to_a_turn_that_failed_waits_for_the_next, fixture) {
    auto const fails = [&] {
        add_letter('a');
        throw std::bad_alloc{};
    };
    BOOST_CHECK_THROW(queue.add([&] { ran += '-'; }, fails), std::bad_alloc);
    BOOST_TEST(scheduled == 0);
    add_letter('b');
    take_turn();
    BOOST_TEST(ran == "ab");
}

BOOST_FIXTURE_TEST_CASE(without_memory_for_another_turn_this_one_goes_on, fixture) {
    int count = 0;
    std::function<void()> again = [&] {
        if (++count < 100) {
            add(again);
        }
    };
    add(again);
    refuses = true;
    take_turn();
    BOOST_TEST(count == 100);
    refuses = false;

    // After an exception nobody is there who could go on.
    add([&] {
        add_letter('a');
        refuses = true;
        throw std::runtime_error{"a user's"};
    });
    BOOST_CHECK_THROW(take_turn(), std::runtime_error);
    refuses = false;
    BOOST_TEST(ran == "");
    add_letter('b');
    take_turn();
    BOOST_TEST(ran == "ab");
}

BOOST_FIXTURE_TEST_CASE(what_is_abandoned_is_destroyed_and_so_is_what_that_adds, fixture) {
    struct adds_at_its_end {
        fixture* to;
        std::shared_ptr<int> owned;
        explicit adds_at_its_end(fixture& f, std::shared_ptr<int> o)
            : to{&f},
              owned{std::move(o)} {}
        adds_at_its_end(adds_at_its_end&& other) noexcept
            : to{std::exchange(other.to, nullptr)},
              owned{std::move(other.owned)} {}
        ~adds_at_its_end() {
            if (to) {
                to->add([keeps = owned] {});
            }
        }
        void operator()() const {}
    };
    auto const owned = std::make_shared<int>();
    add(adds_at_its_end{*this, owned});
    add([keeps = owned] {});
    BOOST_TEST(owned.use_count() == 3);
    queue.abandon();
    BOOST_TEST(owned.use_count() == 1);
    // It can be used again.
    scheduled = 0;
    add_letter('a');
    take_turn();
    BOOST_TEST(ran == "a");
}

BOOST_AUTO_TEST_CASE(what_waits_is_destroyed_with_the_queue) {
    auto const owned = std::make_shared<int>();
    {
        fixture in;
        in.add([keeps = owned] {});
        BOOST_TEST(owned.use_count() == 2);
    }
    BOOST_TEST(owned.use_count() == 1);
}

// A function may run another strand's, by running its context.
BOOST_AUTO_TEST_CASE(a_turn_may_be_taken_inside_anothers) {
    fixture outer;
    fixture inner;
    outer.add([&] {
        inner.add([&] {
            BOOST_TEST(outer.queue.runs_in_this_thread());
            BOOST_TEST(inner.queue.runs_in_this_thread());
            outer.add_letter('b');
            outer.ran += 'a';
        });
        inner.take_turn();
        BOOST_TEST(!inner.queue.runs_in_this_thread());
        BOOST_TEST(outer.queue.runs_in_this_thread());
    });
    outer.take_turn();
    BOOST_TEST(outer.ran == "ab");
}

BOOST_AUTO_TEST_SUITE_END()
