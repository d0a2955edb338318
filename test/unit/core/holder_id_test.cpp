// The shape of a holder id: Redisson's, with a number that fits a positive Java long.

#include "core/holder_id.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using holdfast::detail::holder_id;

namespace {
constexpr std::string_view client = "0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123";
}

BOOST_AUTO_TEST_SUITE(holder_id_test)

BOOST_AUTO_TEST_CASE(a_holder_id_is_the_client_id_and_a_decimal_number) {
    BOOST_TEST(holder_id(client, 84).view() == std::string{client} + ":42");
    BOOST_TEST(holder_id(client, 0).view() == std::string{client} + ":0");
}

BOOST_AUTO_TEST_CASE(the_number_is_a_positive_java_long) {
    BOOST_TEST(
        holder_id(client, std::numeric_limits<std::uint64_t>::max()).view() ==
        std::string{client} + ":9223372036854775807"
    );
}

BOOST_AUTO_TEST_CASE(its_number_says_which_of_the_client_it_is) {
    holder_id const id{client, 84};
    BOOST_TEST(id.number() == 42U);
    BOOST_TEST(holder_id::of_number(client, 42).view() == id.view());
    constexpr auto greatest = std::numeric_limits<std::uint64_t>::max() >> 1U;
    BOOST_TEST(holder_id::of_number(client, greatest).number() == greatest);
}

BOOST_AUTO_TEST_CASE(different_draws_make_different_ids) {
    BOOST_TEST(holder_id(client, 2).view() != holder_id(client, 4).view());
}

BOOST_AUTO_TEST_CASE(a_copy_says_the_same) {
    holder_id const id{client, 1234};
    auto const copy = id;
    BOOST_TEST(copy.view() == id.view());
    BOOST_TEST(
        static_cast<void const*>(copy.view().data()) != static_cast<void const*>(id.view().data())
    );
}

BOOST_AUTO_TEST_SUITE_END()
