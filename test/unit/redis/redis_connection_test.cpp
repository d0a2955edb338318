// The connection of an epoch: made on the strand, with TLS that can be set up.

#include "redis/redis_connection.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>

using holdfast::detail::make_redis_connection;
using holdfast::detail::strand_of;
using holdfast::test::nowhere;

BOOST_AUTO_TEST_SUITE(redis_connection_test)

BOOST_AUTO_TEST_CASE(it_runs_on_the_executor_that_it_is_given) {
    nowhere at;
    auto const made = make_redis_connection(at.strand, *at.settings, *at.server().trust);
    BOOST_TEST((made->get_executor() == strand_of(at.strand).borrow()));
    auto const other = make_redis_connection(at.strand, *at.settings, *at.server().trust);
    BOOST_TEST(made != other);
}

BOOST_AUTO_TEST_CASE(it_is_not_made_without_its_files) {
    nowhere at{"/nowhere/ca.crt"};
    BOOST_CHECK_THROW(
        static_cast<void>(make_redis_connection(at.strand, *at.settings, *at.server().trust)),
        boost::system::system_error
    );
}

BOOST_AUTO_TEST_SUITE_END()
