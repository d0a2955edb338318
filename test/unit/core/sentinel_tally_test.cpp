// Which of the Sentinels' answers counts.

#include "core/sentinel_tally.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::sentinel_answer;
using holdfast::detail::sentinel_tally;
using holdfast::detail::time_point;

namespace {

constexpr time_point start{1h};

sentinel_answer names(std::string host, std::uint64_t epoch) {
    sentinel_answer made;
    made.host = std::move(host);
    made.port = 6379;
    made.config_epoch = epoch;
    return made;
}

sentinel_answer refuses(error_code cause, bool permanent) {
    sentinel_answer made;
    made.cause = cause;
    made.permanent = permanent;
    return made;
}

sentinel_answer const silent = refuses(errc::unreachable, false);
sentinel_answer const unknown = refuses(errc::unknown_primary, true);

struct fixture {
    /// A round in which these answers come.
    sentinel_tally::outcome round(std::initializer_list<sentinel_answer> answers) {
        tally.begin_round();
        for (auto const& one : answers) {
            tally.on_answer(one, now);
        }
        return tally.conclude(now);
    }
    std::string host() const { return tally.known() ? tally.known()->host : "nobody"; }

    sentinel_tally tally{3};
    time_point now = start;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(sentinel_tally_test, fixture)

BOOST_AUTO_TEST_CASE(a_majority_that_names_a_primary_decides) {
    tally.begin_round();
    BOOST_TEST(!tally.decided());
    tally.on_answer(names("a", 1), now);
    BOOST_TEST(!tally.decided());
    tally.on_answer(names("a", 1), now);
    BOOST_TEST(tally.decided());
    BOOST_TEST(!tally.conclude(now).cause);
    BOOST_TEST(host() == "a");
}

BOOST_AUTO_TEST_CASE(those_that_name_none_do_not_make_a_majority) {
    tally.begin_round();
    tally.on_answer(unknown, now);
    tally.on_answer(silent, now);
    BOOST_TEST(!tally.decided());
    tally.on_answer(names("a", 1), now);
    BOOST_TEST(tally.decided());
    BOOST_TEST(!tally.conclude(now).cause);
    BOOST_TEST(host() == "a");
}

BOOST_AUTO_TEST_CASE(one_sentinel_alone_is_a_majority) {
    sentinel_tally one{1};
    one.begin_round();
    one.on_answer(names("a", 0), now);
    BOOST_TEST(one.decided());
}

BOOST_AUTO_TEST_CASE(the_greatest_config_epoch_counts_whichever_comes_first) {
    round({names("old", 4), names("new", 5)});
    BOOST_TEST(host() == "new");
    round({names("newer", 6), names("old", 4)});
    BOOST_TEST(host() == "newer");
}

BOOST_AUTO_TEST_CASE(what_is_known_is_not_forgotten_for_those_that_are_behind) {
    round({names("new", 5)});
    now += sentinel_tally::longest_memory - 1ms;
    BOOST_TEST(!round({names("old", 4), names("old", 4), names("old", 4)}).cause);
    BOOST_TEST(host() == "new");
    BOOST_TEST(tally.known()->config_epoch == 5U);
}

BOOST_AUTO_TEST_CASE(sentinels_that_were_set_up_anew_are_believed_in_the_end) {
    round({names("new", 5)});
    now += sentinel_tally::longest_memory - 1ms;
    // It is confirmed once more.
    round({names("new", 5), names("old", 0)});
    now += sentinel_tally::longest_memory - 1ms;
    round({names("old", 0), names("older", 0)});
    BOOST_TEST(host() == "new");
    now += 1ms;
    round({names("old", 0), names("older", 0)});
    BOOST_TEST(host() == "old");
    BOOST_TEST(tally.known()->config_epoch == 0U);
}

BOOST_AUTO_TEST_CASE(of_two_answers_of_one_epoch_the_first_is_kept) {
    round({names("a", 1)});
    round({names("b", 1)});
    BOOST_TEST(host() == "a");
    now += sentinel_tally::longest_memory;
    round({names("b", 1)});
    BOOST_TEST(host() == "b");
}

BOOST_AUTO_TEST_CASE(news_outside_a_round_is_believed_if_it_is_newer) {
    round({names("a", 1)});
    auto const before = tally.known()->version;
    tally.on_news(names("late", 0), now);
    tally.on_news(silent, now);
    BOOST_TEST(host() == "a");
    BOOST_TEST(tally.known()->version == before);
    tally.on_news(names("b", 2), now);
    BOOST_TEST(host() == "b");
    BOOST_TEST(tally.known()->version > before);
    // The majority has not heard of it yet.
    round({names("a", 1), names("a", 1)});
    BOOST_TEST(host() == "b");
}

BOOST_AUTO_TEST_CASE(the_version_grows_with_each_change_of_the_address_only) {
    round({names("a", 1)});
    auto const first = tally.known()->version;
    BOOST_TEST(first > 0U);
    round({names("a", 2)});
    BOOST_TEST(tally.known()->version == first);
    round({names("b", 3)});
    BOOST_TEST(tally.known()->version == first + 1);
    round({names("a", 4)});
    BOOST_TEST(tally.known()->version == first + 2);
}

BOOST_AUTO_TEST_CASE(nobody_who_answers_is_unreachable_and_that_passes) {
    auto const nobody = round({silent, silent, silent});
    BOOST_TEST((nobody.cause == errc::unreachable));
    BOOST_TEST(!nobody.permanent);
    // Also with a primary that was known.
    round({names("a", 1)});
    BOOST_TEST((round({silent}).cause == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_cause_is_permanent_if_all_that_answer_refuse_for_good) {
    auto const for_good = round({silent, unknown, unknown});
    BOOST_TEST((for_good.cause == errc::unknown_primary));
    BOOST_TEST(for_good.permanent);
    auto const for_now = round({unknown, refuses(errc::server_refused, false), silent});
    BOOST_TEST((for_now.cause == errc::unknown_primary));
    BOOST_TEST(!for_now.permanent);
    auto const named = round({unknown, names("a", 1), unknown});
    BOOST_TEST(!named.cause);
    // A round does not remember the one before.
    auto const again = round({silent, silent, unknown});
    BOOST_TEST((again.cause == errc::unknown_primary));
    BOOST_TEST(again.permanent);
}

BOOST_AUTO_TEST_SUITE_END()
