// Clients come and go; what they did stays in the sum, and they do not.

#include "prometheus/client_totals.hpp"

#include "unit/bare_client.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

using holdfast::stats;
using holdfast::detail::add_counters;
using holdfast::detail::client_totals;
using holdfast::test::bare_world;

namespace {

struct counting_client : holdfast::detail::client_context {
    explicit counting_client(boost::asio::io_context& context)
        : client_context{context.get_executor(), {}} {}
    using client_context::count_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(client_totals_test)

// All members are 64 bits wide: the levels are the last of them, and `longest_wait` is no sum.
BOOST_AUTO_TEST_CASE(every_counter_is_added_up) {
    constexpr std::size_t levels = 4;
    constexpr auto members = sizeof(stats) / sizeof(std::uint64_t);
    stats one;
    std::uint64_t numbers[members];
    for (std::size_t i = 0; i < members; ++i) {
        numbers[i] = 100 + i;
    }
    std::memcpy(&one, numbers, sizeof one);
    BOOST_REQUIRE(one.subscriptions_now == 100 + members - 1);
    BOOST_REQUIRE(one.waiters_now == 100 + members - levels);

    stats sum;
    add_counters(sum, one);
    add_counters(sum, one);
    BOOST_TEST((sum.longest_wait == one.longest_wait));
    sum.longest_wait *= 2;
    std::memcpy(numbers, &sum, sizeof sum);
    for (std::size_t i = 0; i < members; ++i) {
        BOOST_TEST(numbers[i] == (i < members - levels ? 2 * (100 + i) : 0), "member " << i);
    }
}

BOOST_AUTO_TEST_CASE(the_counters_of_a_client_that_is_gone_stay_and_its_levels_do_not) {
    client_totals totals;
    bare_world staying;
    totals.add(staying.client->statistics());
    staying.client->count().grants.add(1);
    staying.client->count().leases_now.add(1);
    {
        bare_world leaving;
        totals.add(leaving.client->statistics());
        leaving.client->count().grants.add(10);
        leaving.client->count().leases_now.add(10);
        auto const both = totals.read();
        BOOST_TEST(both.clients == 2U);
        BOOST_TEST(both.all.grants == 11U);
        BOOST_TEST(both.all.leases_now == 11U);
        leaving.client->count().grants.add(100);
    }
    for (int twice = 0; twice < 2; ++twice) {
        auto const one = totals.read();
        BOOST_TEST(one.clients == 1U);
        BOOST_TEST(one.all.grants == 111U);
        BOOST_TEST(one.all.leases_now == 1U);
    }
}

// A connection that is being closed, for example.
BOOST_AUTO_TEST_CASE(a_client_is_there_while_somebody_counts_for_it) {
    client_totals totals;
    boost::asio::io_context context;
    auto client = std::make_shared<counting_client>(context);
    auto const of = client->statistics();
    totals.add(of);
    auto background = client->count_;
    client.reset();
    BOOST_TEST(!of.ended());
    BOOST_TEST(totals.read().clients == 1U);
    background->commands.add(3);
    background.reset();
    BOOST_TEST(of.ended());
    BOOST_TEST(of.stats().commands == 3U);
    BOOST_TEST(totals.read().clients == 0U);
    BOOST_TEST(totals.read().all.commands == 3U);
}

BOOST_AUTO_TEST_CASE(clients_that_nobody_asks_about_do_not_pile_up) {
    client_totals totals;
    for (int i = 0; i < 1'000; ++i) {
        bare_world one;
        totals.add(one.client->statistics());
        one.client->count().grants.add();
    }
    BOOST_TEST(totals.kept() <= 16U);
    BOOST_TEST(totals.read().all.grants == 1'000U);
    BOOST_TEST(totals.kept() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
