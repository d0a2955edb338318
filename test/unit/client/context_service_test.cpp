// The end of an execution context is told to the clients on it that are still there.

#include "client/context_service.hpp"

#include "unit/scripted_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>

namespace asio = boost::asio;
using holdfast::config;
using holdfast::detail::client_state;
using holdfast::test::scripted_backend;

namespace {

std::shared_ptr<client_state> make_client(asio::io_context& context) {
    return client_state::make(
        context.get_executor(),
        config{},
        [](asio::any_io_executor strand, auto const&, auto const&) {
            return std::make_unique<scripted_backend>(std::move(strand));
        }
    );
}

}  // namespace

BOOST_AUTO_TEST_SUITE(context_service_test)

BOOST_AUTO_TEST_CASE(each_client_on_the_context_is_told) {
    auto context = std::make_unique<asio::io_context>();
    asio::io_context other;
    auto const first = make_client(*context);
    auto const second = make_client(*context);
    auto const elsewhere = make_client(other);
    context.reset();
    BOOST_TEST(first->gone());
    BOOST_TEST(second->gone());
    BOOST_TEST(!elsewhere->gone());
}

BOOST_AUTO_TEST_CASE(one_that_has_gone_is_not_told) {
    auto context = std::make_unique<asio::io_context>();
    auto client = make_client(*context);
    context->poll();
    std::weak_ptr const gone{client};
    client.reset();
    BOOST_TEST(gone.expired());
    context.reset();
}

BOOST_AUTO_TEST_CASE(the_end_of_one_may_be_the_end_of_another) {
    auto context = std::make_unique<asio::io_context>();
    auto first = make_client(*context);
    auto second = make_client(*context);
    // Each keeps the other: a handler that waits may own anything.
    first->ready([second](holdfast::error_code) {});
    second->ready([first](holdfast::error_code) {});
    std::weak_ptr const first_gone{first};
    std::weak_ptr const second_gone{second};
    first.reset();
    second.reset();
    context.reset();
    BOOST_TEST(first_gone.expired());
    BOOST_TEST(second_gone.expired());
}

BOOST_AUTO_TEST_SUITE_END()
