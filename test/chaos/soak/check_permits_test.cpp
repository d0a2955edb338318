// How many permits were taken at a time. Every rule has a history that keeps it, and one that
// breaks it.
#include "soak/check_permits.hpp"

#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <vector>

using namespace holdfast::soak;

namespace {

struct pool {
    history all;

    // The lease ends 1000 ms after the grant.
    operation_writer take(
        std::int64_t process,
        std::int64_t op,
        std::int64_t at,
        std::int64_t permits
    ) {
        auto made = all.op(process, op);
        made.invoke(at - 1);
        all.events.back().permits = permits;
        made.granted(at, process * 100 + op, at + 1000);
        return made;
    }
    void use(
        std::int64_t process,
        std::int64_t op,
        std::int64_t at,
        std::int64_t to,
        std::int64_t permits
    ) {
        take(process, op, at, permits).releasing(to).released(to + 1);
    }
    void check_that(bool fine) {
        auto of_ten = by;
        of_ten.permits = 10;
        std::vector<rule> const expected(fine ? 0 : 1, rule::permits);
        auto const broken = broken_rules(checker{of_ten}.check(all.events));
        BOOST_TEST(broken == expected, boost::test_tools::per_element());
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(several_may_hold_all_permits_there_are_and_no_more) {
    for (auto const last : {5, 6}) {
        pool of;
        of.use(1, 1, 10, 30, 3);
        of.use(2, 1, 20, 40, 2);
        of.use(3, 1, 25, 50, last);
        of.check_that(last == 5);
    }
}

BOOST_AUTO_TEST_CASE(permits_that_were_given_up_are_free) {
    pool of;
    of.use(1, 1, 10, 30, 10);
    of.use(2, 1, 30, 40, 10);
    of.check_that(true);
}

BOOST_AUTO_TEST_CASE(permits_of_a_process_that_was_killed_are_taken_until_its_deadline) {
    for (auto const at : {1009, 1010}) {
        pool of;
        of.take(1, 1, 10, 5);
        of.all.conductor(100, happening::killed, 1);
        of.use(2, 1, at, at + 10, 6);
        of.check_that(at == 1010);
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_lost_all_of_it_may_grant_them_again) {
    for (auto const* const lost : {"", "permits"}) {
        pool of;
        of.take(1, 1, 10, 5);
        of.all.conductor(100, happening::killed, 1);
        of.all.span(happening::data_lost, 200, 300);
        of.all.events.back().word = lost;
        of.use(2, 1, 310, 320, 10);
        of.check_that(*lost == '\0');
    }
}
