// The limits of a lease that begin after its grant: those of a multi-lock's members begin when all
// are held, each with its full length.

#include <holdfast.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::error_code;
using holdfast::loss_reason;
using holdfast::multi_lease;
using holdfast::multi_lock;
using holdfast::owner;
using holdfast::testing::memory_server;
using holdfast::testing::virtual_time;

namespace {

/// A multi-lock of "a", which is free, and "b", which another holder has for 12 s.
struct waiting_for_the_second {
    waiting_for_the_second() {
        server.settle();
        server.hold_as_other("b", 12s);
    }
    void acquire(acquire_options const& with) {
        multi_lock{client.lock("a"), other.lock("b")}.acquire(
            with,
            [this](error_code ec, multi_lease given) {
                error = ec;
                got = std::move(given);
            }
        );
        BOOST_TEST(server.advance_until([&] { return error.has_value(); }, 15s));
        BOOST_TEST((error == error_code{}));
    }
    auto renewals() const { return client.stats().renewals + other.stats().renewals; }

    asio::io_context context;
    memory_server server{virtual_time};
    holdfast::client client{context, server};
    holdfast::client other{context, server};
    std::optional<error_code> error;
    multi_lease got;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tenure_limits_test)

BOOST_AUTO_TEST_CASE(a_multi_lease_that_is_not_renewed_begins_with_its_full_length) {
    for (std::chrono::milliseconds const lease : {20s, 3s}) {
        waiting_for_the_second never;
        never.acquire({.lease = lease, .renew = false});
        BOOST_TEST((never.got.remaining() > lease - lease / 50));
        never.server.advance(lease);
        BOOST_TEST(!never.got.valid());
        BOOST_TEST((never.got.loss() == loss_reason::expired));

        waiting_for_the_second used_up;
        used_up.acquire({.lease = lease, .max_renewals = 0});
        BOOST_TEST((used_up.got.remaining() > lease - lease / 50));
        auto const before = used_up.renewals();
        used_up.server.advance(lease);
        BOOST_TEST(used_up.renewals() == before);
        BOOST_TEST((used_up.got.loss() == loss_reason::max_renewals));

        waiting_for_the_second once;
        once.acquire({.lease = lease, .max_renewals = 1});
        BOOST_TEST((once.got.remaining() > lease - lease / 50));
    }
}

BOOST_AUTO_TEST_CASE(a_multi_lease_without_such_a_limit_needs_no_renewal_at_its_beginning) {
    waiting_for_the_second all;
    all.acquire({.lease = 20s, .max_hold = 1min});
    BOOST_TEST(all.renewals() == 1U);
    all.server.advance(59s);
    BOOST_TEST(all.got.valid());
    all.server.advance(2s);
    BOOST_TEST((all.got.loss() == loss_reason::max_hold));
}

// Its first lease says how it is limited.
BOOST_AUTO_TEST_CASE(a_member_that_joins_a_grant_of_its_owner_changes_nothing_of_it) {
    waiting_for_the_second all;
    auto const me = owner::make();
    holdfast::lease first;
    all.client.lock("a").acquire({.owner = me}, [&](error_code ec, holdfast::lease given) {
        BOOST_TEST(!ec);
        first = std::move(given);
    });
    all.server.settle();
    all.acquire({.lease = 20s, .renew = false, .owner = me});
    all.server.advance(1min);
    BOOST_TEST((all.got.loss() == loss_reason::expired));
    BOOST_TEST(first.valid());
}

BOOST_AUTO_TEST_SUITE_END()
