// Each operation is cancelled at each point at which it can be: after every single step of the
// world from its start to its end, that is also between its completion and the call of its handler.
// Whatever the point and the type, it completes once, and leaves nothing behind.

#include "simulation/scenes.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cstddef>

using namespace holdfast;
using namespace holdfast::sim;
using asio::cancellation_type;

namespace {

struct tally {
    std::size_t points = 0;
    std::size_t combinations = 0;
    std::size_t aborted = 0;
    std::size_t completed = 0;
};

// One run with a cancellation after `point` steps; true if the operation was not over before.
bool run_one(scene& one, std::size_t point, cancellation_type type, tally& all) {
    one.prepare();
    BOOST_REQUIRE(!one.on().in().failed());
    one.begin();
    std::size_t steps = 0;
    bool emitted = false;
    for (;;) {
        if (steps++ == point && !one.done()) {
            one.emit(type);
            emitted = true;
        }
        if (one.done() || one.on().in().failed() || !one.on().in().step()) {
            break;
        }
        if (steps > 100'000) {
            break;
        }
    }
    BOOST_TEST(one.done());
    if (!one.done()) {
        return false;
    }
    auto const ec = one.result();
    bool const right =
        !ec || (emitted && ec == asio::error::operation_aborted) || one.may_fail_with(ec);
    BOOST_TEST(right, ec.message());
    (ec == asio::error::operation_aborted ? all.aborted : all.completed) += emitted ? 1 : 0;
    one.end();
    // Withdrawals, and the time for which a subscription lingers.
    one.on().run_for(3s);
    BOOST_TEST(one.wrong() == "");
    BOOST_TEST(one.on().left_behind() == "");
    BOOST_TEST(one.on().close_all() == "");
    BOOST_TEST(one.on().in().first_violation() == "");
    return emitted;
}

template <class Scene>
void sweep(char const* name, tally& all) {
    bool more = true;
    for (std::size_t point = 0; more; ++point) {
        more = false;
        for (auto const type :
             {cancellation_type::terminal,
              cancellation_type::partial,
              cancellation_type::total,
              cancellation_type::all}) {
            BOOST_TEST_CONTEXT(
                name << ", cancelled after " << point << " steps, type " << static_cast<int>(type)
            ) {
                Scene one;
                if (run_one(one, point, type, all)) {
                    more = true;
                    ++all.combinations;
                }
            }
        }
        all.points += more ? 1 : 0;
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_operation_that_is_cancelled_at_any_point_leaves_nothing_behind) {
    tally all;
    std::size_t scenes = 0;
    auto each = [&]<class Scene>(char const* name) {
        ++scenes;
        auto const before = all;
        sweep<Scene>(name, all);
        BOOST_TEST(all.points > before.points + 1);
        fmt::print(
            "{:<28} {:>4} points, {:>5} combinations, {:>5} aborted, {:>5} completed\n",
            name,
            all.points - before.points,
            all.combinations - before.combinations,
            all.aborted - before.aborted,
            all.completed - before.completed
        );
    };
    for_each_scene(each);
    fmt::print(
        "{} operations, {} points, {} combinations: {} aborted, {} completed\n",
        scenes,
        all.points,
        all.combinations,
        all.aborted,
        all.completed
    );
}
