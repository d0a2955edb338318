// Which of many like messages are worth a line in the log.

#include "core/repetition.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace std::chrono_literals;
using holdfast::detail::repetition;
using holdfast::detail::time_point;

namespace {
constexpr time_point t0{1'000s};
}

BOOST_AUTO_TEST_SUITE(repetition_test)

BOOST_AUTO_TEST_CASE(a_message_that_repeats_is_told_after_pauses_that_grow) {
    repetition said;
    std::vector<std::chrono::seconds> told;
    for (auto at = 0s; at < 40min; at += 1s) {
        if (said.worth_a_line("refused", t0 + at)) {
            told.push_back(at);
        }
    }
    std::vector const expected{0s, 10s, 30s, 70s, 150s, 310s, 630s, 1'230s, 1'830s};
    BOOST_TEST((told == expected));
}

BOOST_AUTO_TEST_CASE(a_new_message_is_told_at_once) {
    repetition said;
    BOOST_TEST(said.worth_a_line("refused", t0));
    BOOST_TEST(said.worth_a_line("timed out", t0));
    BOOST_TEST(!said.worth_a_line("timed out", t0 + 9s));
    BOOST_TEST(said.worth_a_line("refused", t0 + 9s));
}

BOOST_AUTO_TEST_CASE(what_comes_again_after_it_was_over_is_new) {
    repetition said;
    BOOST_TEST(said.worth_a_line("refused", t0));
    said.reset();
    BOOST_TEST(said.worth_a_line("refused", t0 + 1s));
    BOOST_TEST(!said.worth_a_line("refused", t0 + 2s));
}

BOOST_AUTO_TEST_SUITE_END()
