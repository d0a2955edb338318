// Strands of any executor: one at a time, and known to the code that runs there.

#include "runtime/strand.hpp"

#include "runtime/eager_strand.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

namespace asio = boost::asio;
using holdfast::detail::make_strand_of;
using holdfast::detail::runs_here;

namespace {

// Whether the strand knows its own code, and only that.
template <class Run>
void check(asio::any_io_executor const& of, Run run) {
    auto const strand = make_strand_of(of);
    auto const other = make_strand_of(of);
    bool inside = false;
    bool beside = true;
    bool outside = true;
    BOOST_TEST(!runs_here(strand));
    asio::post(strand, [&] {
        inside = runs_here(strand);
        beside = runs_here(other);
    });
    asio::post(of, [&] { outside = runs_here(strand); });
    run();
    BOOST_TEST(inside);
    BOOST_TEST(!beside);
    BOOST_TEST(!outside);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strand_test)

BOOST_AUTO_TEST_CASE(a_strand_knows_its_own_code_whatever_it_is_made_of) {
    asio::io_context context;
    auto const run = [&] {
        context.restart();
        context.poll();
    };
    check(context.get_executor(), run);
    check(asio::make_strand(context), run);
    check(asio::any_io_executor{asio::make_strand(context)}, run);
    asio::thread_pool pool{1};
    check(pool.get_executor(), [&] { pool.join(); });
}

BOOST_AUTO_TEST_CASE(the_strand_of_an_io_context_is_not_erased_twice) {
    asio::io_context context;
    auto const strand = make_strand_of(context.get_executor());
    using plain = holdfast::detail::eager_strand<asio::io_context::executor_type>;
    BOOST_TEST((strand.target<plain>() != nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
