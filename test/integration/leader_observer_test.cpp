// Observers of an election on a real server: what they report when leaders follow each other, also
// while nobody listens, and what they cost.

#include "integration/election_fixture.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;
using holdfast::leader_info;
using holdfast::leader_observer;

BOOST_AUTO_TEST_CASE(an_observer_that_was_away_reports_only_the_newest_leader) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client observing{executor, quiet(proxy.url())};
        holdfast::client leading{executor, quiet(server.url())};
        auto const election = leading.election("E");
        witness const seen{executor, observing.election("E").observe()};
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "-"; }));
        auto const away = [&](auto const& which, int from, int to) -> task {
            proxy.refuse_new(true);
            proxy.cut(cut_kind::rst, which);
            for (int i = from; i < to; ++i) {
                auto leads = co_await election.campaign(std::to_string(i));
                co_await leads.resign();
            }
            auto leads = co_await election.campaign(std::to_string(to));
            proxy.refuse_new(false);
            auto const last = std::to_string(to);
            BOOST_TEST(co_await co_eventually(20s, [&] { return seen.last() == last; }));
            co_await leads.resign();
            BOOST_TEST(co_await co_eventually(20s, [&] { return seen.last() == "-"; }));
        };
        co_await away(all_connections(), 0, 5);
        BOOST_TEST(seen.told() == list({"-", "5", "-"}));
        co_await away(connections_that_sent("SUBSCRIBE"), 6, 20);
        BOOST_TEST(seen.terms_grow());
    });
}

BOOST_AUTO_TEST_CASE(an_observer_goes_on_when_the_server_has_lost_its_data) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, quiet(server.url())};
        auto probe = server.probe();
        witness const seen{executor, client.election("E").observe()};
        auto leads = co_await client.election("E").campaign("a");
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "a"; }));
        probe.flushall();
        holdfast::client other{executor, quiet(server.url())};
        auto next = co_await other.election("E").campaign("b");
        BOOST_TEST((next.term() > leads.term()));
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "b"; }));
        BOOST_TEST(seen.terms_grow());
    });
}

BOOST_AUTO_TEST_CASE(several_wait_at_an_observer_and_none_that_goes_takes_a_leader_with_it) {
    with_client([](holdfast::client& client, redis_probe&) -> task {
        auto const election = client.election("E");
        auto observer = election.observe();
        static_cast<void>(co_await observer.next());
        std::vector<std::string> told;
        asio::cancellation_signal signal;
        error_code cancelled;
        observer.next(asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, leader_info) {
            cancelled = ec;
        }));
        for (auto const* const name : {"x", "y"}) {
            observer.next([&told, name](error_code ec, leader_info leader) {
                told.push_back(ec ? ec.message() : name + leader.value);
            });
        }
        co_await sleep_for(20ms);
        signal.emit(asio::cancellation_type::total);
        BOOST_TEST(co_await co_eventually(5s, [&] { return bool(cancelled); }));
        BOOST_TEST((cancelled == asio::error::operation_aborted));
        auto leads = co_await election.campaign("1");
        BOOST_TEST(co_await co_eventually(5s, [&] { return told.size() == 1; }));
        co_await leads.proclaim("2");
        BOOST_TEST(co_await co_eventually(5s, [&] { return told.size() == 2; }));
        BOOST_TEST(told == list({"x1", "y2"}));
        co_await leads.proclaim("3");
        co_await leads.proclaim("4");
        // What was proclaimed while no operation waited is left out.
        BOOST_TEST((co_await observer.next()).value == "4");
        auto const limited = co_await observer.next(asio::cancel_after(20ms, as_result));
        BOOST_TEST((std::get<0>(limited) == asio::error::operation_aborted));
    });
}

BOOST_AUTO_TEST_CASE(an_observer_ends_with_its_handle_and_with_the_client) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, quiet(server.url())};
        auto probe = server.probe();
        witness one{executor, client.election("E").observe()};
        witness const other{executor, client.election("E").observe()};
        auto const begun = [&] { return one.last() == "-" && other.last() == "-"; };
        BOOST_TEST(co_await co_eventually(10s, begun));
        one.stop();
        BOOST_TEST(co_await co_eventually(10s, [&] { return bool(one.ended()); }));
        BOOST_TEST((one.ended() == asio::error::operation_aborted));
        BOOST_TEST(!other.ended());
        auto late = client.election("E").observe();
        co_await client.shutdown();
        BOOST_TEST(co_await co_eventually(10s, [&] { return bool(other.ended()); }));
        BOOST_TEST((other.ended() == errc::client_stopped));
        auto const [ec, leader] = co_await late.next(as_result);
        BOOST_TEST((ec == errc::client_stopped));
        BOOST_TEST(co_await co_eventually(10s, [&] { return probe.pubsub_channels().empty(); }));
        leader_observer moved{std::move(late)};
        auto const [none, nothing] = co_await late.next(as_result);
        BOOST_TEST((none == errc::not_held));
    });
}

BOOST_AUTO_TEST_CASE(observers_send_nothing_while_nothing_happens) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        for (int i = 0; i < 3; ++i) {
            clients.emplace_back(executor, quiet(server.url()));
        }
        auto probe = server.probe();
        auto leads = co_await clients[0].election("E").campaign("a");
        std::deque<witness> all;
        for (int i = 0; i < 9; ++i) {
            auto const& client = clients[static_cast<std::size_t>(i % 3)];
            all.emplace_back(executor, client.election("E").observe());
        }
        auto const told = [&] {
            return std::ranges::all_of(all, [](auto const& one) { return one.last() == "a"; });
        };
        BOOST_TEST(co_await co_eventually(10s, told));
        // One look at first, and one when both channels are confirmed.
        co_await sleep_for(200ms);
        auto const before = probe.lock_commands();
        co_await sleep_for(500ms);
        BOOST_TEST(probe.lock_commands() == before);
        // Nobody takes them for clients that wait for the lock.
        co_await leads.resign();
        auto const gone = [&] {
            return std::ranges::all_of(all, [](auto const& one) { return one.last() == "-"; });
        };
        BOOST_TEST(co_await co_eventually(10s, gone));
    });
}
