// One keep-alive for each executor that holders use, as long as it has something to do.

#include "lease/keep_alives.hpp"

#include "unit/lease/test_sleeper.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::lease_clock;
using holdfast::detail::guarded_executor;
using holdfast::detail::keep_alive;
using holdfast::detail::keep_alives;
using holdfast::test::test_sleeper;

namespace {

struct world {
    // They outlive what looks after them.
    std::vector<std::shared_ptr<test_sleeper>> sleepers;
    std::optional<asio::io_context> context{std::in_place};
    std::shared_ptr<keep_alives> all = std::make_shared<keep_alives>();

    std::shared_ptr<keep_alive> add(asio::any_io_executor const& executor) {
        sleepers.push_back(std::make_shared<test_sleeper>());
        return all->add(guarded_executor{executor}, *sleepers.back(), lease_clock::now() + 1h);
    }
    void run() {
        context->restart();
        context->poll();
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(keep_alives_test)

BOOST_AUTO_TEST_CASE(those_of_one_executor_share_a_coroutine) {
    world on;
    auto const first = on.add(on.context->get_executor());
    BOOST_TEST(on.add(on.context->get_executor()) == first);
    on.run();
    BOOST_TEST(on.add(on.context->get_executor()) == first);
    auto const strand = asio::make_strand(*on.context);
    auto const second = on.add(strand);
    BOOST_TEST(second != first);
    BOOST_TEST(on.add(strand) == second);
}

BOOST_AUTO_TEST_CASE(one_that_has_ended_is_dropped_and_made_again) {
    world on;
    auto first = on.add(on.context->get_executor());
    on.run();
    first->remove(*on.sleepers[0]);
    on.run();
    BOOST_TEST(on.context->stopped());
    std::weak_ptr const dropped{first};
    first.reset();
    BOOST_TEST(dropped.expired());
    BOOST_TEST(!on.add(on.context->get_executor())->ended());
    on.run();
    BOOST_TEST(!on.context->stopped());
}

BOOST_AUTO_TEST_CASE(that_of_a_strand_is_found_among_thousands) {
    world on;
    asio::any_io_executor const erased = on.context->get_executor();
    std::vector<asio::any_io_executor> strands;
    std::vector<std::shared_ptr<keep_alive>> keepers;
    for (int i = 0; i < 1000; ++i) {
        strands.emplace_back(asio::make_strand(*on.context));
        strands.emplace_back(asio::make_strand(erased));
    }
    for (auto const& strand : strands) {
        keepers.push_back(on.add(strand));
    }
    for (std::size_t i = 0; i < strands.size(); ++i) {
        BOOST_TEST(on.add(strands[i]) == keepers[i]);
    }
}

BOOST_AUTO_TEST_CASE(contexts_end_one_by_one) {
    world on;
    world other;
    on.add(on.context->get_executor());
    auto const elsewhere = on.add(other.context->get_executor());
    on.context.reset();
    BOOST_TEST(on.sleepers[0]->gone == 1);
    BOOST_TEST(on.sleepers[1]->gone == 0);
    BOOST_TEST(on.add(other.context->get_executor()) == elsewhere);
}

BOOST_AUTO_TEST_CASE(nothing_is_started_in_a_context_that_is_going) {
    world on;
    guarded_executor const executor{on.context->get_executor()};
    std::shared_ptr<keep_alive> made;
    auto const one = std::make_shared<test_sleeper>();
    // What waits in a context is dropped while it is destroyed.
    asio::post(*on.context, [dropped = std::shared_ptr<void>{nullptr, [&](void*) {
                                                                 made = on.all->add(
                                                                     executor,
                                                                     *one,
                                                                     lease_clock::now()
                                                                 );
                                                             }}] {});
    on.context.reset();
    BOOST_TEST(!made);
    BOOST_TEST(one->calls == 0);
    BOOST_TEST(one->gone == 1);
}

BOOST_AUTO_TEST_CASE(a_coroutine_may_outlive_the_client_that_started_it) {
    world on;
    auto const keeper = on.add(on.context->get_executor());
    on.run();
    on.all.reset();
    keeper->remove(*on.sleepers[0]);
    on.run();
    BOOST_TEST(on.context->stopped());
    BOOST_TEST(keeper->ended());
}

BOOST_AUTO_TEST_SUITE_END()
