// Which of many like messages are worth a line in the log.

#include "core/repetition.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using holdfast::log_level;
using holdfast::detail::repetition;
using holdfast::detail::time_point;
using text = std::optional<std::string>;

namespace {

constexpr time_point t0{1'000s};

struct log {
    text say(std::string const& cause, time_point now, std::string const& lock = {}) {
        auto const line = lock.empty() ? cause : lock + ": " + cause;
        return said.admit(log_level::warning, cause, lock, line, now);
    }

    repetition said;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(repetition_test)

BOOST_AUTO_TEST_CASE(a_message_that_repeats_is_told_after_pauses_that_grow) {
    log all;
    std::vector<std::chrono::seconds> told;
    for (auto at = 0s; at < 40min; at += 1s) {
        if (all.say("refused", t0 + at)) {
            told.push_back(at);
        }
    }
    std::vector const expected{0s, 10s, 30s, 70s, 150s, 310s, 630s, 1'230s, 1'830s};
    BOOST_TEST((told == expected));
}

BOOST_AUTO_TEST_CASE(a_new_message_is_told_at_once) {
    log all;
    BOOST_TEST((all.say("refused", t0) == "refused"));
    BOOST_TEST((all.say("timed out", t0) == "timed out"));
}

// A client that is refused two requests in turn.
BOOST_AUTO_TEST_CASE(messages_that_alternate_are_told_once_each) {
    log all;
    int told = 0;
    for (int i = 0; i < 90; ++i) {
        auto const now = t0 + i * 100ms;
        told += all.say("refused", now) ? 1 : 0;
        told += all.say("timed out", now) ? 1 : 0;
    }
    BOOST_TEST(told == 2);
}

BOOST_AUTO_TEST_CASE(a_line_after_a_pause_says_how_often_it_came_meanwhile) {
    log all;
    BOOST_TEST(all.say("refused", t0).has_value());
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(!all.say("refused", t0 + 1s).has_value());
    }
    BOOST_TEST((all.say("refused", t0 + 11s) == "refused (and 5 more times in 11 s)"));
    BOOST_TEST(!all.say("refused", t0 + 12s).has_value());
}

BOOST_AUTO_TEST_CASE(the_first_three_locks_of_a_cause_are_named_and_the_others_counted) {
    log all;
    int told = 0;
    for (int i = 0; i < 20; ++i) {
        told += all.say("refused", t0, "a" + std::to_string(i)) ? 1 : 0;
    }
    BOOST_TEST(told == 3);
    BOOST_TEST((all.said.due() == t0 + 10s));
    BOOST_TEST(all.said.take_due(t0 + 9s, t0 + 9s).empty());
    auto const due = all.said.take_due(t0 + 10s, t0 + 10s);
    BOOST_TEST_REQUIRE(due.size() == 1U);
    BOOST_TEST((due[0].first == log_level::warning));
    BOOST_TEST(due[0].second == "a19: refused (and 16 more times in 10 s, for 17 locks)");
    BOOST_TEST(!all.said.due().has_value());
}

BOOST_AUTO_TEST_CASE(a_minute_of_one_cause_and_twenty_locks_is_five_lines) {
    log all;
    std::size_t told = 0;
    for (auto at = 0ms; at < 60s; at += 100ms) {
        for (int i = 0; i < 20; ++i) {
            told += all.say("refused", t0 + at, "a" + std::to_string(i)) ? 1 : 0;
        }
        told += all.said.take_due(t0 + at, t0 + at).size();
    }
    BOOST_TEST(told == 5U);
}

BOOST_AUTO_TEST_CASE(what_comes_again_after_it_was_over_is_new) {
    log all;
    BOOST_TEST(all.say("refused", t0).has_value());
    BOOST_TEST(!all.say("refused", t0 + 1s).has_value());
    all.said.reset(t0 + 1s);
    BOOST_TEST((all.say("refused", t0 + 2s) == "refused"));
    BOOST_TEST(!all.say("refused", t0 + 2s).has_value());
}

BOOST_AUTO_TEST_CASE(what_comes_again_after_a_long_outage_is_new) {
    log all;
    for (auto at = 0s; at < 20min; at += 1s) {
        static_cast<void>(all.say("refused", t0 + at));
    }
    all.said.reset(t0 + 20min);
    BOOST_TEST((all.say("refused", t0 + 20min + 1s) == "refused"));
}

BOOST_AUTO_TEST_CASE(what_comes_and_goes_each_second_is_at_most_ten_lines_a_minute) {
    log all;
    int told = 0;
    for (auto at = 0s; at < 60s; at += 1s) {
        told += all.say("ended", t0 + at) ? 1 : 0;
        all.said.reset(t0 + at);
    }
    BOOST_TEST(told >= 3);
    BOOST_TEST(told <= 10);
}

// A cause of several addresses: a whole pause of named ones for each return would fill the log.
BOOST_AUTO_TEST_CASE(what_comes_and_goes_for_several_is_at_most_ten_lines_a_minute) {
    for (auto const each : {1s, 4s, 11s, 15s}) {
        log all;
        int told = 0;
        for (auto at = 0s; at < 60s; at += 1s) {
            for (int i = 0; i < 6; ++i) {
                told += all.say("ended", t0 + at, "a" + std::to_string(i)) ? 1 : 0;
            }
            if (at % each == 0s) {
                all.said.reset(t0 + at);
            }
        }
        BOOST_TEST(told >= 3);
        BOOST_TEST(told <= 10);
    }
}

BOOST_AUTO_TEST_CASE(what_is_counted_may_be_something_else_than_locks) {
    repetition said{"addresses"};
    for (std::string_view const place : {"a", "b", "c", "d", "e"}) {
        static_cast<void>(said.admit(log_level::warning, "refused", place, "no", t0));
    }
    BOOST_TEST(
        (said.admit(log_level::warning, "refused", "a", "no", t0 + 10s) ==
         "no (and 2 more times in 10 s, for 3 addresses)")
    );
}

BOOST_AUTO_TEST_CASE(a_cause_that_did_not_come_back_for_a_pause_is_forgotten) {
    log all;
    BOOST_TEST(all.say("refused", t0).has_value());
    BOOST_TEST(all.say("refused", t0 + 20s).has_value());
    BOOST_TEST((all.say("refused", t0 + 21s, {}) == text{}));
    // Any number of them takes little memory.
    for (int i = 0; i < 1'000; ++i) {
        BOOST_TEST(all.say(std::to_string(i), t0 + 22s).has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()
