// Which slot of a cluster a key is in.

#include "protocol/slot.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>

using namespace holdfast::detail;

BOOST_AUTO_TEST_SUITE(slot_test)

// As CLUSTER KEYSLOT of redis-server 7.0 says; the first is the check value of CRC-16/XMODEM.
BOOST_AUTO_TEST_CASE(keys_have_the_slots_of_the_specification) {
    BOOST_TEST(slot_of("123456789") == (0x31c3 & 0x3fff));
    BOOST_TEST(slot_of("foo") == 12'182);
    BOOST_TEST(slot_of("bar") == 5'061);
    BOOST_TEST(slot_of("") == 0);
}

BOOST_AUTO_TEST_CASE(only_the_first_hash_tag_counts_if_it_is_not_empty) {
    BOOST_TEST(slot_of("{user1000}.following") == slot_of("user1000"));
    BOOST_TEST(slot_of("foo{bar}{zap}") == slot_of("bar"));
    BOOST_TEST(slot_of("foo{{bar}}zap") == slot_of("{bar"));
    BOOST_TEST(slot_of("foo{}{bar}") != slot_of("bar"));
    BOOST_TEST(slot_of("foo{bar") != slot_of("bar"));
}

BOOST_AUTO_TEST_CASE(each_slot_has_a_short_tag) {
    for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
        auto const tag = std::to_string(tag_of_slot(slot));
        BOOST_REQUIRE(slot_of("shop:{" + tag + "}") == slot);
        BOOST_REQUIRE(tag.size() <= 6U);
    }
}

BOOST_AUTO_TEST_SUITE_END()
