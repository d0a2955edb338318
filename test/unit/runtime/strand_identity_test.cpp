// What is looked up by its strand: copies of one have it in common, others do not.

#include "runtime/strand_identity.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <set>
#include <vector>

namespace asio = boost::asio;
using holdfast::detail::strand_identity;

BOOST_AUTO_TEST_SUITE(strand_identity_test)

BOOST_AUTO_TEST_CASE(copies_of_a_strand_have_one_identity) {
    asio::io_context context;
    asio::thread_pool pool{1};
    asio::any_io_executor const erased = context.get_executor();
    auto const check = [](auto const& strand) {
        asio::any_io_executor const one{strand};
        auto const copy = strand;
        BOOST_TEST(strand_identity(one) != nullptr);
        BOOST_TEST(strand_identity(one) == strand_identity(asio::any_io_executor{copy}));
        auto const never = asio::require(one, asio::execution::blocking.never);
        BOOST_TEST(strand_identity(one) == strand_identity(never));
    };
    check(asio::make_strand(context));
    check(asio::make_strand(pool));
    check(asio::make_strand(erased));
}

BOOST_AUTO_TEST_CASE(strands_differ) {
    asio::io_context context;
    std::set<void const*> seen;
    std::vector<asio::any_io_executor> all;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(asio::make_strand(context));
        BOOST_TEST(seen.insert(strand_identity(all.back())).second);
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_strand_has_none) {
    asio::io_context context;
    asio::thread_pool pool{1};
    BOOST_TEST(strand_identity(context.get_executor()) == nullptr);
    BOOST_TEST(strand_identity(pool.get_executor()) == nullptr);
    BOOST_TEST(strand_identity(asio::system_executor{}) == nullptr);
    BOOST_TEST(strand_identity({}) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
