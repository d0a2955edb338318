// A latch on a real server: who passes and when, what is counted when answers are lost, and what
// other clients see.

#include "integration/counted_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <deque>
#include <functional>
#include <string>
#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::counts;

namespace {

std::string const channel = "redisson_countdownlatch__channel__{L}";

// Waiters of several clients, and how many have passed.
class crowd {
public:
    crowd(std::deque<holdfast::client>& clients, int waiters) : waiters_{waiters} {
        for (int i = 0; i < waiters; ++i) {
            auto const& client = clients[static_cast<std::size_t>(i) % clients.size()];
            client.latch("L").wait([this](error_code ec) {
                BOOST_TEST(!ec, ec.message());
                ++passed_;
            });
        }
    }
    bool all_passed() const { return passed_ == waiters_; }
    int passed() const { return passed_; }

private:
    int waiters_;
    int passed_ = 0;
};

// Each client has asked again after its subscription.
bool parked(std::deque<holdfast::client> const& clients, redis_probe& probe) {
    auto const asked_twice = [](auto const& client) { return client.stats().refusals >= 2; };
    return std::ranges::all_of(clients, asked_twice) &&
           probe.pubsub_numsub(channel) == static_cast<std::int64_t>(clients.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_is_set_counted_down_and_open) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const latch = client.latch("{}", "L");
        BOOST_TEST(latch.name() == "L");
        BOOST_TEST(co_await latch.try_wait());  // one that is not set
        co_await latch.wait();
        BOOST_TEST(co_await latch.try_set(3));
        BOOST_TEST(!co_await latch.try_set(5));
        BOOST_TEST(co_await latch.count() == 3);
        BOOST_TEST(!co_await latch.try_wait());
        BOOST_TEST(!co_await latch.try_wait_for(20ms));
        BOOST_TEST(probe.get("L").value_or("") == "3");
        BOOST_TEST(probe.pttl("L") == -1);
        co_await latch.count_down();
        BOOST_TEST(co_await latch.count() == 2);
        co_await latch.count_down(7);
        BOOST_TEST(co_await latch.count() == 0);
        BOOST_TEST(!probe.exists("L"));
        co_await latch.wait();
        BOOST_TEST(co_await latch.try_wait_for(0s));
        co_await latch.count_down();
        BOOST_TEST(co_await latch.try_set(1));
        // The marks of what was answered go soon.
        BOOST_TEST(co_await co_eventually(5s, [&] { return marks(probe) == 0; }));
    });
}

BOOST_AUTO_TEST_CASE(a_name_with_braces_has_redissons_odd_channel) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const latch = client.latch("a{b}");
        co_await latch.try_set(1);
        bool passed = false;
        latch.wait([&](error_code) { passed = true; });
        auto const listens = [&] {
            return probe.pubsub_numsub("redisson_countdownlatch__channel__{a{b}}") == 1;
        };
        BOOST_TEST(co_await co_eventually(5s, listens));
        BOOST_TEST(probe.keys("holdfast_done:a{b}:*").size() == 1U);
        co_await latch.count_down();
        BOOST_TEST(co_await co_eventually(5s, [&] { return passed; }));
    });
}

BOOST_AUTO_TEST_CASE(a_thousand_waiters_in_several_clients_pass_with_one_message) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        for (int i = 0; i < 4; ++i) {
            clients.emplace_back(executor, quiet(server.url()));
        }
        auto probe = server.probe();
        co_await clients[0].latch("L").try_set(100);
        crowd const waiting{clients, 1'000};
        BOOST_TEST(co_await co_eventually(10s, [&] { return parked(clients, probe); }));
        auto listener = server.probe();
        listener.subscribe(channel);
        for (std::size_t i = 0; i < 99; ++i) {
            co_await clients[i % clients.size()].latch("L").count_down();
        }
        BOOST_TEST(waiting.passed() == 0);
        auto const looks = [&] {
            std::uint64_t all = 0;
            for (auto const& client : clients) {
                all += client.stats().attempts;
            }
            return all;
        };
        auto const before = looks();
        co_await clients[0].latch("L").count_down();
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.all_passed(); }));
        BOOST_TEST(looks() - before == clients.size());
        auto const message = listener.next_message(1s);
        BOOST_REQUIRE(message);
        BOOST_TEST(message->payload == "0");
        BOOST_TEST(!listener.next_message(50ms));
    });
}

BOOST_AUTO_TEST_CASE(what_opens_while_the_connection_is_down_is_seen_after_the_subscription) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        for (int i = 0; i < 3; ++i) {
            clients.emplace_back(executor, quiet(proxy.url()));
        }
        holdfast::client other{executor, server.url()};
        auto probe = server.probe();
        // The subscriptions only, and all connections.
        for (auto const& which : {connections_that_sent("SUBSCRIBE"), all_connections()}) {
            co_await other.latch("L").try_set(1);
            crowd const waiting{clients, 300};
            BOOST_TEST(co_await co_eventually(10s, [&] { return parked(clients, probe); }));
            proxy.refuse_new(true);
            proxy.cut(cut_kind::rst, which);
            BOOST_TEST(co_await co_eventually(5s, [&] { return probe.pubsub_numsub(channel) == 0; })
            );
            co_await other.latch("L").count_down();
            co_await sleep_for(50ms);
            BOOST_TEST(waiting.passed() == 0);
            proxy.refuse_new(false);
            BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.all_passed(); }));
        }
    });
}

BOOST_AUTO_TEST_CASE(a_latch_that_is_deleted_or_whose_message_was_lost_is_seen_to_be_open) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = quiet(server.url());
        settings.fallback_poll_interval = 100ms;
        std::deque<holdfast::client> clients;
        clients.emplace_back(executor, settings);
        auto probe = server.probe();
        co_await clients[0].latch("L").try_set(1);
        {
            crowd const waiting{clients, 10};
            co_await sleep_for(150ms);
            probe.del("L");
            BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.all_passed(); }));
        }
        clients.clear();
        clients.emplace_back(executor, quiet(server.url()));
        co_await clients[0].latch("L").try_set(1);
        crowd const waiting{clients, 10};
        BOOST_TEST(co_await co_eventually(5s, [&] { return parked(clients, probe); }));
        // As Redisson's delete() does.
        probe.del("L");
        probe.publish(channel, "1");
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.all_passed(); }));
    });
}

BOOST_AUTO_TEST_CASE(a_count_down_counts_once_whatever_becomes_of_its_request_and_its_answer) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        for (auto const fault : faults) {
            holdfast::client client{executor, quiet(proxy.url())};
            auto const latch = client.latch("L");
            probe.set("L", "9");
            co_await latch.count_down();
            proxy.when_client_sends(channel, fault);
            co_await latch.count_down();
            BOOST_TEST(proxy.pending_faults() == 0U);
            BOOST_TEST(probe.get("L").value_or("") == "7");
            proxy.when_client_sends(channel, fault);
            probe.del("L");
            auto const set = co_await latch.try_set(5);
            BOOST_TEST(set);
            BOOST_TEST(probe.get("L").value_or("") == "5");
            co_await latch.count_down(5);
            BOOST_TEST(!probe.exists("L"));
        }
    });
}

BOOST_AUTO_TEST_CASE(a_count_down_waits_for_a_connection_and_says_in_the_end_what_is_known) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto settings = quiet(proxy.url());
        settings.lease = 2s;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto const latch = client.latch("L");
        co_await latch.try_set(9);
        proxy.refuse_new(true);
        proxy.cut();
        // Longer than a question waits.
        error_code counted;
        bool done = false;
        latch.count_down([&](error_code ec) {
            counted = ec;
            done = true;
        });
        co_await sleep_for(800ms);
        BOOST_TEST(!done);
        auto const [asked, nothing] = co_await latch.count(as_result);
        BOOST_TEST(holdfast::is_retryable(asked), asked.message());
        proxy.refuse_new(false);
        BOOST_TEST(co_await co_eventually(5s, [&] { return done; }));
        BOOST_TEST(!counted, counted.message());
        BOOST_TEST(probe.get("L").value_or("") == "8");

        proxy.refuse_new(true);
        proxy.cut();
        auto const is_down = co_await latch.count(as_result);
        BOOST_TEST(bool(std::get<0>(is_down)));
        auto const [unsent] = co_await latch.count_down(as_result);
        BOOST_TEST(holdfast::is_retryable(unsent), unsent.message());
        proxy.refuse_new(false);
        co_await client.ready();
        BOOST_TEST(probe.get("L").value_or("") == "8");

        proxy.when_client_sends(channel, command_fault::lose_reply_and_cut);
        proxy.when_client_sends("HELLO", command_fault::drop_replies);
        auto const [unknown] = co_await latch.count_down(as_result);
        BOOST_TEST((!unknown || unknown == errc::release_unknown), unknown.message());
        BOOST_TEST(probe.get("L").value_or("") == "7");
    });
}

BOOST_AUTO_TEST_CASE(each_operation_can_be_cancelled) {
    with_proxy([](redis_server&, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, quiet(proxy.url())};
        auto const latch = client.latch("L");
        // The server knows the scripts: what is sent first is executed first.
        co_await latch.try_set(1);
        co_await latch.count_down();
        co_await latch.try_set(1);
        auto const waits = co_await latch.wait(asio::cancel_after(50ms, as_result));
        BOOST_TEST((std::get<0>(waits) == asio::error::operation_aborted));
        auto const limited = co_await latch.try_wait_for(1h, asio::cancel_after(50ms, as_result));
        BOOST_TEST((std::get<0>(limited) == asio::error::operation_aborted));
        BOOST_TEST(client.stats().waiters_now == 0U);
        BOOST_TEST(client.stats().withdrawals == 0U);

        proxy.set_mode(direction::to_client, proxy_mode::stall());
        auto const tried = co_await latch.try_wait(asio::cancel_after(50ms, as_result));
        BOOST_TEST((std::get<0>(tried) == asio::error::operation_aborted));
        auto const counted = co_await latch.count_down(asio::cancel_after(50ms, as_result));
        BOOST_TEST((std::get<0>(counted) == asio::error::operation_aborted));
        auto const asked = co_await latch.count(asio::cancel_after(50ms, as_result));
        BOOST_TEST((std::get<0>(asked) == asio::error::operation_aborted));
        auto const set = co_await latch.try_set(4, asio::cancel_after(50ms, as_result));
        BOOST_TEST((std::get<0>(set) == asio::error::operation_aborted));
        proxy.set_mode(proxy_mode::forward());
        // What was begun went on.
        bool found = false;
        for (int i = 0; i < 100 && !found; ++i) {
            auto const [ec, count] = co_await latch.count(as_result);
            found = !ec && count == 4;
            co_await sleep_for(20ms);
        }
        BOOST_TEST(found);
    });
}

BOOST_AUTO_TEST_CASE(something_else_under_the_key_is_neither_waited_for_nor_touched) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const latch = client.latch("L");
        for (auto const& wrong : {"apple", "-1", "hash"}) {
            probe.del("L");
            if (std::string{wrong} == "hash") {
                probe.cmd("HSET", "L", "a", "b");
            } else {
                probe.set("L", wrong);
            }
            auto const [waits] = co_await latch.wait(as_result);
            BOOST_TEST((waits == errc::corrupt_state), wrong);
            auto const [tried, open] = co_await latch.try_wait(as_result);
            BOOST_TEST((tried == errc::corrupt_state), wrong);
            auto const [counted] = co_await latch.count_down(as_result);
            BOOST_TEST((counted == errc::corrupt_state), wrong);
            auto const [asked, count] = co_await latch.count(as_result);
            BOOST_TEST((asked == errc::corrupt_state), wrong);
            BOOST_TEST(probe.exists("L"));
        }
        auto const [ec] = co_await client.latch("").wait(as_result);
        BOOST_TEST((ec == errc::invalid_name));
        auto const [none] = co_await client.latch("M").count_down(0, as_result);
        BOOST_TEST((none == errc::invalid_options));
        BOOST_TEST(marks(probe) == 0U);
    });
}

BOOST_AUTO_TEST_CASE(with_memory_full_a_latch_is_counted_down_and_none_is_set) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const latch = client.latch("L");
        co_await latch.try_set(2);
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        co_await latch.count_down();
        BOOST_TEST(probe.get("L").value_or("") == "1");
        co_await latch.count_down();
        BOOST_TEST(co_await latch.try_wait());
        bool set = false;
        latch.try_set(3, [&](error_code ec, bool done) { set = !ec && done; });
        co_await sleep_for(100ms);
        BOOST_TEST(!set);
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
        BOOST_TEST(co_await co_eventually(10s, [&] { return set; }));
    });
}

BOOST_AUTO_TEST_CASE(a_user_needs_few_rights) {
    auto const rights =
        "resetchannels ~L ~holdfast_done:{L}* ~redisson_countdownlatch__channel__{L} "
        "&redisson_countdownlatch__channel__{L} -@all +hello +ping +time +evalsha +eval "
        "+subscribe +unsubscribe +get +set +incrby +pexpire +del +publish";
    with_alice(rights, [](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto const latch = client.latch("L");
        co_await latch.try_set(2);
        bool passed = false;
        latch.wait([&](error_code ec) { passed = !ec; });
        co_await sleep_for(50ms);
        co_await latch.count_down();
        BOOST_TEST(!passed);
        co_await latch.count_down();
        BOOST_TEST(co_await co_eventually(5s, [&] { return passed; }));
        auto const [ec] = co_await client.latch("M").wait(as_result);
        BOOST_TEST((ec == errc::no_permission));
        auto const [counted] = co_await client.latch("M").count_down(as_result);
        BOOST_TEST((counted == errc::no_permission));
    });
}

BOOST_AUTO_TEST_CASE(a_client_that_may_not_publish_still_lets_its_own_waiters_pass) {
    with_alice(
        "~* &* +@all -publish",
        [](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = as_alice(server);
            settings.fallback_poll_interval = 1h;
            holdfast::client client{executor, settings};
            auto const latch = client.latch("L");
            co_await latch.try_set(1);
            bool passed = false;
            latch.wait([&](error_code ec) { passed = !ec; });
            BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().refusals >= 2; }));
            co_await latch.count_down();
            BOOST_TEST(co_await co_eventually(5s, [&] { return passed; }));
            BOOST_TEST(client.stats().refused_notifications > 0U);
        }
    );
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_ends_what_waits) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::vector<error_code> ends;
        {
            holdfast::client client{executor, server.url()};
            co_await client.latch("L").try_set(1);
            for (int i = 0; i < 3; ++i) {
                client.latch("L").wait([&](error_code ec) { ends.push_back(ec); });
            }
            BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().waiters_now == 3; }));
            auto settings = holdfast::parse_url(server.url());
            settings.max_waiters = 1;
            holdfast::client small{executor, settings};
            small.latch("L").wait([](error_code) {});
            auto const [ec] = co_await small.latch("L").wait(as_result);
            BOOST_TEST((ec == errc::too_many_waiters));
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return ends.size() == 3; }));
        for (auto const& ec : ends) {
            BOOST_TEST((ec == errc::client_stopped));
        }
    });
}
