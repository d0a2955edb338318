// Those who wait for a loss: taken out together, by their lease, or one by one, and told.

#include "lease/loss_watchers.hpp"

#include "lease/tenure.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::detail::guarded_executor;
using holdfast::detail::lease_share;
using holdfast::detail::lease_shares;
using holdfast::detail::loss_watchers;
using holdfast::test::grant;
using holdfast::test::outcome;
using holdfast::test::scripted_client;

namespace {

// Two leases with two watchers each: first, second, first, second.
struct world {
    world() {
        for (std::size_t i = 0; i < told.size(); ++i) {
            numbers.at(i) = watchers.next_number();
            watchers.add(
                {i % 2 == 0 ? first.get() : second.get(),
                 numbers.at(i),
                 {told.at(i).loss(), client.context.get_executor()}}
            );
        }
    }

    void tell(loss_watchers::list taken, error_code error, loss_reason reason) {
        loss_watchers::tell(taken, error, reason);
        client.run();
    }
    lease_shares::shared_share make_share() {
        return lease_shares::make_further(
            client.held().of_owner(*client.on, who)->shared_from_this(),
            guarded_executor{client.context.get_executor()}
        );
    }

    scripted_client client;
    std::optional<owner> who = owner::make();
    lease held = grant(client, {.who = who});
    lease_shares::shared_share first = make_share();
    lease_shares::shared_share second = make_share();
    std::array<outcome, 4> told;
    std::array<std::uint64_t, 4> numbers{};
    loss_watchers watchers;
};

std::vector<std::uint64_t> numbers_of(loss_watchers::list const& taken) {
    std::vector<std::uint64_t> numbers;
    for (auto const& each : taken) {
        numbers.push_back(each.number);
    }
    return numbers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loss_watchers_test)

BOOST_AUTO_TEST_CASE(all_are_taken_once) {
    world all;
    auto taken = all.watchers.take_all();
    BOOST_TEST(numbers_of(taken) == all.numbers, boost::test_tools::per_element());
    BOOST_TEST(all.watchers.take_all().empty());
    loss_watchers::tell(taken, {}, loss_reason::taken);
    // Never inside the call.
    BOOST_TEST(!all.told[0].error.has_value());
    all.client.run();
    for (auto const& one : all.told) {
        BOOST_TEST((one.error == error_code{}));
        BOOST_TEST(one.reason == loss_reason::taken);
    }
}

BOOST_AUTO_TEST_CASE(those_of_one_lease_are_taken_in_their_order_and_the_others_stay) {
    world all;
    auto taken = all.watchers.take_those_of(*all.second);
    BOOST_TEST(
        numbers_of(taken) == (std::vector{all.numbers[1], all.numbers[3]}),
        boost::test_tools::per_element()
    );
    BOOST_TEST(all.watchers.take_those_of(*all.second).empty());
    all.tell(std::move(taken), errc::not_held, loss_reason::none);
    BOOST_TEST((all.told[1].error == errc::not_held));
    BOOST_TEST((all.told[3].error == errc::not_held));
    BOOST_TEST(!all.told[0].error.has_value());
    BOOST_TEST(
        numbers_of(all.watchers.take_all()) == (std::vector{all.numbers[0], all.numbers[2]}),
        boost::test_tools::per_element()
    );
}

BOOST_AUTO_TEST_CASE(one_is_taken_by_its_number_and_only_once) {
    world all;
    all.tell(all.watchers.take(all.numbers[2]), asio::error::operation_aborted, loss_reason::none);
    BOOST_TEST((all.told[2].error == asio::error::operation_aborted));
    BOOST_TEST(all.watchers.take(all.numbers[2]).empty());
    BOOST_TEST(all.watchers.take(all.watchers.next_number()).empty());
    BOOST_TEST(
        numbers_of(all.watchers.take_all()) ==
            (std::vector{all.numbers[0], all.numbers[1], all.numbers[3]}),
        boost::test_tools::per_element()
    );
}

BOOST_AUTO_TEST_SUITE_END()
