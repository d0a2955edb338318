// The right to be told of a channel ends with its owner, once.

#include "protocol/subscription.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <utility>

using holdfast::detail::subscription;

namespace {

struct part final : subscription::registration {
    explicit part(int& count) : ended{count} {}
    ~part() override { ++ended; }
    int& ended;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(subscription_test)

BOOST_AUTO_TEST_CASE(it_ends_once_wherever_it_was_moved_to) {
    int ended = 0;
    subscription none;
    BOOST_TEST(!none);
    {
        subscription first{std::make_unique<part>(ended)};
        BOOST_TEST(static_cast<bool>(first));
        auto second = std::move(first);
        BOOST_TEST(ended == 0);
        BOOST_TEST(static_cast<bool>(second));
        second = subscription{};
        BOOST_TEST(ended == 1);
    }
    BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_SUITE_END()
