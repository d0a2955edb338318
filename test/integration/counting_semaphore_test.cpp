// A counting semaphore on a real server: permits are taken and given back once, whatever becomes of
// requests and answers.

#include "integration/counted_fixture.hpp"
#include "support/history/turns.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <deque>
#include <string>
#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::counts;

namespace {

std::string const channel = "redisson_sc:{S}";

std::string permits(redis_probe& probe) {
    return probe.get("S").value_or("-");
}

struct pool {
    std::vector<holdfast::history::turn> had;
    int served = 0;
};

task use(holdfast::counting_semaphore semaphore, std::int64_t count, int times, pool& in) {
    for (int i = 0; i < times; ++i) {
        co_await semaphore.acquire(count);
        {
            holdfast::history::noted_turn const held{in.had, 0, 0, count};
            co_await sleep_for(1ms);
        }
        co_await semaphore.release(count);
        ++in.served;
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(permits_are_set_taken_and_given_back) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const semaphore = client.counting_semaphore("{}", "S");
        BOOST_TEST(semaphore.name() == "S");
        BOOST_TEST(!co_await semaphore.try_acquire());
        BOOST_TEST(co_await semaphore.try_set_permits(5));
        BOOST_TEST(!co_await semaphore.try_set_permits(9));
        co_await semaphore.acquire();
        co_await semaphore.acquire(2);
        BOOST_TEST(co_await semaphore.available() == 2);
        BOOST_TEST(!co_await semaphore.try_acquire(3));
        BOOST_TEST(!co_await semaphore.try_acquire_for(500ms, 3));
        BOOST_TEST(co_await semaphore.try_acquire(2));
        BOOST_TEST(!co_await semaphore.try_acquire_for(0s));
        co_await semaphore.release(4);
        co_await semaphore.release();
        BOOST_TEST(permits(probe) == "5");
        BOOST_TEST(probe.pttl("S") == -1);
        co_await semaphore.add_permits(-7);
        BOOST_TEST(co_await semaphore.available() == -2);
        co_await semaphore.add_permits(6);
        BOOST_TEST(co_await semaphore.drain() == 4);
        BOOST_TEST(co_await semaphore.available() == 0);
        BOOST_TEST(co_await co_eventually(5s, [&] { return marks(probe) == 0; }));
    });
}

BOOST_AUTO_TEST_CASE(no_more_are_taken_than_there_are) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        for (int i = 0; i < 3; ++i) {
            clients.emplace_back(executor, quiet(server.url()));
        }
        auto probe = server.probe();
        co_await clients[0].counting_semaphore("S").try_set_permits(4);
        pool all;
        for (std::size_t i = 0; i < 24; ++i) {
            auto const count = i % 4 == 3 ? 2 : 1;
            auto semaphore = clients[i % clients.size()].counting_semaphore("S");
            asio::co_spawn(executor, use(semaphore, count, 10, all), asio::detached);
        }
        BOOST_TEST(co_await co_eventually(20s, [&] { return all.served == 240; }));
        // There are no tokens.
        holdfast::history::rules const by{.permits = 4, .tokens = false, .lease = 30s};
        for (auto const& broken : holdfast::history::broken_by(all.had, by)) {
            BOOST_ERROR(broken);
        }
        BOOST_TEST(permits(probe) == "4");
    });
}

BOOST_AUTO_TEST_CASE(a_message_of_any_number_wakes_those_who_wait) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const semaphore = client.counting_semaphore("S");
        for (auto const* const total : {"1", "2", "3"}) {
            probe.set("S", "0");
            auto const refusals = client.stats().refusals;
            bool taken = false;
            semaphore.acquire([&](error_code ec) { taken = !ec; });
            auto const parked = [&] {
                return client.stats().refusals >= refusals + 2 ||
                       (client.stats().refusals > refusals && probe.pubsub_numsub(channel) == 1);
            };
            BOOST_TEST(co_await co_eventually(5s, parked));
            // As Redisson's release does.
            probe.set("S", total);
            probe.publish(channel, total);
            BOOST_TEST(co_await co_eventually(3s, [&] { return taken; }));
        }
    });
}

BOOST_AUTO_TEST_CASE(an_attempt_takes_its_permits_once_whatever_becomes_of_request_and_answer) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        for (auto const fault : faults) {
            holdfast::client client{executor, quiet(proxy.url())};
            auto const semaphore = client.counting_semaphore("S");
            probe.set("S", "9");
            co_await semaphore.acquire();
            proxy.when_client_sends("holdfast_done:{S}", fault);
            co_await semaphore.acquire(3);
            BOOST_TEST(proxy.pending_faults() == 0U);
            BOOST_TEST(permits(probe) == "5");
            proxy.when_client_sends("holdfast_done:{S}", fault);
            co_await semaphore.release(3);
            BOOST_TEST(permits(probe) == "8");
            proxy.when_client_sends("holdfast_done:{S}", fault);
            BOOST_TEST(co_await semaphore.drain() == 8);
            BOOST_TEST(permits(probe) == "0");
        }
    });
}

BOOST_AUTO_TEST_CASE(a_cancelled_attempt_gives_back_what_it_took) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        for (auto const fault : faults) {
            holdfast::client client{executor, quiet(proxy.url())};
            auto const semaphore = client.counting_semaphore("S");
            probe.set("S", "9");
            co_await semaphore.acquire();
            BOOST_TEST(permits(probe) == "8");
            proxy.when_client_sends("holdfast_done:{S}", fault);
            asio::cancellation_signal cancel;
            int ends = 0;
            bool taken = false;
            auto const note = [&](error_code ec) {
                ++ends;
                taken = !ec;
            };
            semaphore.acquire(2, asio::bind_cancellation_slot(cancel.slot(), note));
            auto const sent = [&] { return proxy.pending_faults() == 0; };
            BOOST_TEST(co_await co_eventually(5s, sent));
            cancel.emit(asio::cancellation_type::terminal);
            BOOST_TEST(co_await co_eventually(5s, [&] { return ends == 1; }));
            auto const wanted = taken ? "6" : "8";
            BOOST_TEST(co_await co_eventually(5s, [&] { return permits(probe) == wanted; }));
            // Also when the attempt was slow.
            co_await sleep_for(20ms);
            BOOST_TEST(permits(probe) == wanted);
        }
    });
}

BOOST_AUTO_TEST_CASE(each_operation_can_be_cancelled) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, quiet(proxy.url())};
        auto probe = server.probe();
        auto const semaphore = client.counting_semaphore("S");
        co_await semaphore.try_set_permits(1);
        auto const aborted = [](auto const& result) {
            return std::get<0>(result) == asio::error::operation_aborted;
        };
        auto const soon = asio::cancel_after(50ms, as_result);
        BOOST_TEST(aborted(co_await semaphore.acquire(2, soon)));
        BOOST_TEST(aborted(co_await semaphore.try_acquire_for(1h, 2, soon)));
        BOOST_TEST(client.stats().waiters_now == 0U);
        BOOST_TEST(client.stats().withdrawals == 0U);
        proxy.set_mode(direction::to_client, proxy_mode::stall());
        BOOST_TEST(aborted(co_await semaphore.try_acquire(soon)));
        BOOST_TEST(aborted(co_await semaphore.release(4, soon)));
        BOOST_TEST(aborted(co_await semaphore.add_permits(5, soon)));
        BOOST_TEST(aborted(co_await semaphore.available(soon)));
        BOOST_TEST(aborted(co_await semaphore.try_set_permits(3, soon)));
        proxy.set_mode(proxy_mode::forward());
        // The attempt is withdrawn, and what was begun goes on.
        BOOST_TEST(co_await co_eventually(10s, [&] { return permits(probe) == "10"; }));
        proxy.set_mode(direction::to_client, proxy_mode::stall());
        BOOST_TEST(aborted(co_await semaphore.drain(soon)));
        proxy.set_mode(proxy_mode::forward());
        BOOST_TEST(co_await co_eventually(10s, [&] { return permits(probe) == "0"; }));
    });
}

BOOST_AUTO_TEST_CASE(something_else_under_the_key_is_neither_waited_for_nor_touched) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const semaphore = client.counting_semaphore("S");
        for (auto const& wrong : {"apple", "hash"}) {
            probe.del("S");
            if (std::string{wrong} == "hash") {
                probe.cmd("HSET", "S", "a", "b");
            } else {
                probe.set("S", wrong);
            }
            auto const [taken] = co_await semaphore.acquire(as_result);
            BOOST_TEST((taken == errc::corrupt_state), wrong);
            auto const [released] = co_await semaphore.release(as_result);
            BOOST_TEST((released == errc::corrupt_state), wrong);
            auto const [drained, count] = co_await semaphore.drain(as_result);
            BOOST_TEST((drained == errc::corrupt_state), wrong);
            auto const [set, done] = co_await semaphore.try_set_permits(1, as_result);
            BOOST_TEST((set == errc::corrupt_state), wrong);
            BOOST_TEST(probe.exists("S"));
        }
        for (std::int64_t const wrong : {0LL, -1LL, 1LL << 40}) {
            auto const [ec] = co_await semaphore.acquire(wrong, as_result);
            BOOST_TEST((ec == errc::invalid_options));
        }
        auto const [ec] = co_await client.counting_semaphore("").release(as_result);
        BOOST_TEST((ec == errc::invalid_name));
    });
}

BOOST_AUTO_TEST_CASE(with_memory_full_permits_are_given_back_and_none_are_taken) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const semaphore = client.counting_semaphore("S");
        co_await semaphore.try_set_permits(2);
        co_await semaphore.acquire();
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        co_await semaphore.release();
        BOOST_TEST(permits(probe) == "2");
        bool taken = false;
        semaphore.acquire([&](error_code ec) { taken = !ec; });
        co_await sleep_for(100ms);
        BOOST_TEST(!taken);
        BOOST_TEST(permits(probe) == "2");
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
        BOOST_TEST(co_await co_eventually(10s, [&] { return taken; }));
        BOOST_TEST(permits(probe) == "1");
    });
}

BOOST_AUTO_TEST_CASE(a_user_needs_few_rights) {
    auto const rights =
        "resetchannels ~S ~holdfast_done:{S}* ~redisson_sc:{S} &redisson_sc:{S} -@all +hello +ping "
        "+time +evalsha +eval +subscribe +unsubscribe +get +set +incrby +pexpire +exists +del "
        "+publish";
    with_alice(rights, [](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto const semaphore = client.counting_semaphore("S");
        co_await semaphore.try_set_permits(1);
        co_await semaphore.acquire();
        bool taken = false;
        semaphore.acquire([&](error_code ec) { taken = !ec; });
        co_await sleep_for(50ms);
        BOOST_TEST(!taken);
        co_await semaphore.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return taken; }));
        auto const [ec] = co_await client.counting_semaphore("T").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission));
    });
}

BOOST_AUTO_TEST_CASE(one_who_may_not_give_permits_back_takes_none) {
    with_alice(
        "~* &* +@all -incrby",
        [](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, as_alice(server)};
            server.probe().set("S", "3");
            auto const [ec] = co_await client.counting_semaphore("S").acquire(as_result);
            BOOST_TEST((ec == errc::no_permission), ec.message());
            auto probe = server.probe();
            BOOST_TEST(permits(probe) == "3");
        }
    );
}
