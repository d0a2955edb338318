// Texts in one piece of memory: each is found again, and a copy has its own.

#include "protocol/joined_texts.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

using holdfast::detail::joined_texts;

BOOST_AUTO_TEST_SUITE(joined_texts_test)

BOOST_AUTO_TEST_CASE(each_text_is_found_again) {
    joined_texts const all{{"first", "", std::string(600, 'x'), "last"}};
    BOOST_TEST(all[0] == "first");
    BOOST_TEST(all[1].empty());
    BOOST_TEST(all[2] == std::string(600, 'x'));
    BOOST_TEST(all[3] == "last");
}

BOOST_AUTO_TEST_CASE(without_texts_there_are_empty_ones) {
    joined_texts const none;
    auto const copy = none;
    for (std::size_t i = 0; i < joined_texts::count; ++i) {
        BOOST_TEST(none[i].empty());
        BOOST_TEST(copy[i].empty());
    }
}

BOOST_AUTO_TEST_CASE(a_copy_outlives_what_it_was_copied_from) {
    std::optional<joined_texts> all;
    all.emplace(joined_texts{{"a", "b", "c", "d"}});
    auto copy = *all;
    joined_texts assigned;
    assigned = copy;
    all.reset();
    auto const moved = std::move(copy);
    BOOST_TEST(assigned[0] == "a");
    BOOST_TEST(assigned[3] == "d");
    BOOST_TEST(moved[0] == "a");
    BOOST_TEST(moved[3] == "d");
}

BOOST_AUTO_TEST_SUITE_END()
