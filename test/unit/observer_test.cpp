// What an observer is told, in which order, and that it may ask the library meanwhile.

#include <holdfast/observer.hpp>

#include "unit/acquire/handing_client.hpp"
#include "unit/acquire/quorum_acquiring.hpp"
#include "unit/in_virtual_time.hpp"
#include "unit/lease/granted_lease.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace holdfast::test;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::grant_kind;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::observer;
using holdfast::owner;
using holdfast::stats_source;
using nanos = std::chrono::nanoseconds;

namespace {

struct recorder : observer {
    template <class... Words>
    void add(char const* text, Words const&... words) {
        lines.push_back(fmt::format(fmt::runtime(text), words...));
        if (then) {
            then();
        }
    }
    void on_client(stats_source const& of) noexcept override { clients.push_back(of); }
    void on_acquire(acquisition const& what) noexcept override {
        add("{} acquires {}", what.number, what.lock);
    }
    void on_wait(acquisition const& what) noexcept override {
        add("{} waits", what.number);
        had_to_wait = what.had_to_wait;
    }
    void on_grant(acquisition const& what, grant const& of) noexcept override {
        add("{} gets {}, {}", what.number, of.token.value, to_string(of.kind));
        waited = of.waited;
        had_to_wait = what.had_to_wait;
    }
    void on_no_grant(acquisition const& what, error_code why, nanos) noexcept override {
        add("{} gets nothing, {}", what.number, why ? why.message() : "busy");
        had_to_wait = what.had_to_wait;
    }
    void on_renewal(held_lock const& what, nanos) noexcept override {
        add("{} is renewed", what.token.value);
    }
    void on_doubt(held_lock const& what) noexcept override {
        add("{} is in doubt", what.token.value);
    }
    void on_loss(held_lock const& what, loss_reason why) noexcept override {
        add("{} is lost, {}", what.token.value, to_string(why));
    }
    void on_release(held_lock const& what, nanos held_for) noexcept override {
        add("{} of {} is over", what.token.value, what.lock);
        held = held_for;
    }
    void on_connected(connection const& which) noexcept override {
        add("connected to {}", which.server);
    }
    void on_disconnected(connection const& which) noexcept override {
        add("disconnected from {}", which.server);
    }

    std::vector<std::string> lines;
    std::vector<stats_source> clients;
    std::function<void()> then;
    nanos waited{-1};
    nanos held{-1};
    bool had_to_wait = false;
};

// A client and who watches it.
struct observed {
    static holdfast::config with(std::shared_ptr<recorder> const& told) {
        holdfast::config made;
        made.observer = told;
        return made;
    }
    // What was told since this was asked last.
    std::string news() {
        std::string all;
        for (auto const& line : std::exchange(told->lines, {})) {
            all += (all.empty() ? "" : "; ") + line;
        }
        return all;
    }

    std::shared_ptr<recorder> told = std::make_shared<recorder>();
    handing_client client{with(told)};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(observer_test, observed)

BOOST_AUTO_TEST_CASE(a_client_that_begins_is_told_with_its_statistics) {
    BOOST_REQUIRE(told->clients.size() == 1U);
    acquiring const one{client};
    client.answer(granted(5));
    auto const of = told->clients.at(0);
    BOOST_TEST(of.stats().grants == 1U);
    BOOST_TEST(!of.ended());
    {
        handing_client const second{with(told)};
        BOOST_TEST(!told->clients.at(1).ended());
    }
    BOOST_TEST(told->clients.at(1).ended());
    BOOST_TEST(told->clients.at(1).stats().grants == 0U);
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_free_is_granted_and_given_back) {
    acquiring one{client};
    BOOST_TEST(news() == "1 acquires a");
    client.answer(granted(5));
    BOOST_TEST(news() == "1 gets 5, uncontended");
    BOOST_TEST(!told->had_to_wait);
    BOOST_TEST((told->waited >= 0ns));
    one.got = {};
    client.run();
    BOOST_TEST(news() == "5 of a is over");
    BOOST_TEST((told->held >= 0ns));
}

BOOST_AUTO_TEST_CASE(an_operation_whose_time_is_up_ends_with_the_answer_that_it_waited_for) {
    acquiring_options const brief{
        .how_long = holdfast::detail::patience::limited,
        .limit = std::chrono::milliseconds{1},
    };
    acquiring const refused{client, brief};
    client.pass(10ms);
    BOOST_TEST(news() == "1 acquires a");
    client.answer(busy());
    BOOST_TEST(news() == "1 waits; 1 gets nothing, busy");
    acquiring const won{client, brief};
    client.pass(10ms);
    client.answer(granted(5));
    BOOST_TEST(news() == "2 acquires a; 2 gets 5, uncontended");
    BOOST_TEST((told->waited >= 10ms));
}

BOOST_AUTO_TEST_CASE(a_lock_comes_from_another_client) {
    acquiring const one{client};
    auto const id = client.wait_in_queue();
    BOOST_TEST(news() == "1 acquires a; 1 waits");
    BOOST_TEST(told->had_to_wait);
    client.grant_to(id, 77);
    BOOST_TEST(news() == "1 gets 77, other_client");
    BOOST_TEST(told->had_to_wait);
}

BOOST_AUTO_TEST_CASE(a_lock_goes_from_one_to_the_next_within_a_client) {
    acquiring first{client};
    acquiring const second{client};
    client.answer(granted(5));
    BOOST_TEST(news() == "1 acquires a; 2 acquires a; 2 waits; 1 gets 5, uncontended");
    client.answer(replied(1, 6, 0, 0));  // tokens for the next
    first.got = {};
    client.run();
    BOOST_TEST(news().ends_with("5 of a is over; 2 gets 6, own_client"));
}

BOOST_AUTO_TEST_CASE(busy_and_cancelled_are_told_apart) {
    acquiring const tried{client, once};
    client.answer(busy());
    BOOST_TEST(news() == "1 acquires a; 1 gets nothing, busy");
    BOOST_TEST(!told->had_to_wait);
    acquiring cancelled{client};
    client.answer(busy());
    cancelled.signal.emit(asio::cancellation_type::terminal);
    client.run();
    auto const aborted = error_code{asio::error::operation_aborted}.message();
    BOOST_TEST(news() == "2 acquires a; 2 waits; 2 gets nothing, " + aborted);
    BOOST_TEST(told->had_to_wait);
}

BOOST_AUTO_TEST_CASE(who_enters_again_is_told_to_have_joined) {
    auto const me = owner::make();
    acquiring const outer{client, {.who = me}};
    client.answer(granted(5));
    acquiring const inner{client, {.who = me}};
    BOOST_TEST(news() == "1 acquires a; 1 gets 5, uncontended; 2 acquires a; 2 gets 5, joined");
}

BOOST_AUTO_TEST_CASE(doubt_renewal_and_loss_are_told_in_their_order) {
    auto const lease = grant(client, {.renew_after = 0s});
    told->then = [&] { static_cast<void>(lease.state()); };  // no mutex is held
    client.set_commands_up(false);
    BOOST_TEST(news() == "disconnected from 0; 7 is in doubt");
    BOOST_TEST((lease.state() == lease_state::in_doubt));
    client.set_commands_up(true);
    BOOST_TEST(client.eventually([&] { return client.sent() == "renew"; }));
    client.answer(replied(1));
    BOOST_TEST(news() == "connected to 0; 7 is renewed");
    client.set_commands_up(false);
    client.set_commands_up(true);
    BOOST_TEST(client.eventually([&] { return client.sent() == "renew"; }));
    client.answer(replied(0, 0));
    BOOST_TEST(news() == "disconnected from 0; 7 is in doubt; connected to 0; 7 is lost, deleted");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_client_ends_its_connections) {
    client.set_commands_up(false);
    client.set_commands_up(true);
    BOOST_TEST(news() == "disconnected from 0; connected to 0");
    client.state->abandon();
    client.run();
    BOOST_TEST(news() == "disconnected from 0");
}

BOOST_AUTO_TEST_CASE(a_connection_that_nothing_needs_is_over) {
    client.set_commands_up(false);
    client.set_commands_up(true);
    client.on_strand([&] { client.server->events->on_closed(1); });
    BOOST_TEST(news() == "disconnected from 0; connected to 0");
    client.on_strand([&] { client.server->events->on_closed(0); });
    BOOST_TEST(news() == "disconnected from 0");
}

namespace {

// How many of its lines say this.
std::size_t count(recorder const& of, std::string_view what) {
    return static_cast<std::size_t>(std::ranges::count_if(of.lines, [&](auto const& line) {
        return line.find(what) != line.npos;
    }));
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_acquisition_of_several_locks_counts_once_with_its_result) {
    in_virtual_time all{with(told)};
    holdfast::client const other{all.context, all.server};
    // Now they may be asked for together.
    all.take(all.client, "c").release(asio::detached);
    auto held = all.take(other, "a");
    holdfast::multi_lock const both{all.client.lock("a"), all.client.lock("b")};
    told->lines.clear();
    acquired_of<holdfast::multi_lease> got;
    both.try_acquire_for(1min, got.handler());
    all.server.advance(1s);
    held.release(asio::detached);
    BOOST_TEST(all.server.advance_until([&] { return got.ended.has_value(); }, 1min));
    BOOST_TEST(got.granted());
    BOOST_TEST(count(*told, "acquires") == 2U);
    BOOST_TEST(count(*told, "gets") == 2U);
    BOOST_TEST(count(*told, "busy") == 0U);

    got.got = {};
    all.server.settle();
    held = all.take(other, "a");
    told->lines.clear();
    got.ended.reset();
    both.try_acquire(got.handler());
    BOOST_TEST(all.server.advance_until([&] { return got.ended.has_value(); }, 1min));
    BOOST_TEST(got.busy());
    BOOST_TEST(count(*told, "acquires") == 2U);
    BOOST_TEST(count(*told, "gets nothing, busy") == 2U);

    // Their own time is up in the same moment as that of the lock that they wait for.
    told->lines.clear();
    std::vector<acquired_of<holdfast::multi_lease>> many(8);
    for (auto& each : many) {
        both.try_acquire_for(5ms, each.handler());
    }
    all.server.advance(1s);
    for (auto const& each : many) {
        BOOST_TEST(each.busy());
    }
    BOOST_TEST(count(*told, "gets nothing, busy") == many.size());
    BOOST_TEST(count(*told, "gets nothing") == many.size());
    BOOST_TEST(all.client.stats().subscriptions_now == 0U);
}

BOOST_AUTO_TEST_CASE(an_acquisition_of_a_quorum_counts_once_with_its_result) {
    scripted_nodes nodes{3, true, with(told)};
    quorum_acquiring waits{nodes};
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 3; ++i) {
            nodes.refuse(i, 10);
        }
        BOOST_TEST(nodes.eventually([&] { return nodes.sent(2).ends_with("quorum_lock.acquire"); })
        );
    }
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.grant(i);
    }
    BOOST_TEST((waits.error == error_code{}));
    // The third one may join yet.
    BOOST_TEST(count(*told, "acquires") == 2U);
    BOOST_TEST(count(*told, "gets 70") == 2U);
    BOOST_TEST(count(*told, "nothing") == 0U);

    told->lines.clear();
    quorum_acquiring const tries{nodes, holdfast::detail::patience::one_attempt};
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.refuse(i);
    }
    BOOST_TEST(tries.done());
    BOOST_TEST(count(*told, "acquires") == 3U);
    BOOST_TEST(count(*told, "gets nothing, busy") == 3U);
}

BOOST_AUTO_TEST_CASE(one_that_overrides_nothing_may_be_told_everything) {
    observer idle;
    idle.on_client(told->clients.at(0));
    idle.on_acquire({});
    idle.on_wait({});
    idle.on_grant({}, {});
    idle.on_no_grant({}, {}, 0ns);
    idle.on_renewal({}, 0ns);
    idle.on_doubt({});
    idle.on_loss({}, loss_reason::none);
    idle.on_release({}, 0ns);
    idle.on_connected({});
    idle.on_disconnected({});
    BOOST_TEST(to_string(grant_kind::expiry) == "expiry");
    BOOST_TEST(to_string(static_cast<grant_kind>(99)) == "unknown");
}

BOOST_AUTO_TEST_SUITE_END()
