// What it costs clients that pass a lock to each other that others listen to its channel: raw
// subscribers, observers of an election, and clients of another database. And what a client that
// does not queue gets beside them, however short it holds the lock.

#include "support/first_version_peer.hpp"
#include "support/one_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

std::string const channel = "redisson_lock__channel:{L}";

/// Each wants the lock all the time, until it is told to stop: some always wait.
struct passing {
    passing(redis_server const& server, asio::any_io_executor executor) {
        for (int i = 0; i < 4; ++i) {
            auto const& each = clients_.emplace_back(executor, server.url());
            asio::co_spawn(executor, pass(each.lock("L")), asio::detached);
        }
    }
    task pass(holdfast::lock lock) {
        ++running;
        while (!stop) {
            auto lease = co_await lock.acquire();
            ++grants;
            co_await sleep_for(300us);
            co_await lease.release();
        }
        --running;
    }
    task end() {
        stop = true;
        BOOST_TEST(co_await co_eventually(5s, [&] { return running == 0; }));
    }

    int grants = 0;
    int running = 0;
    bool stop = false;

private:
    std::deque<holdfast::client> clients_;
};

/// Some who listen, until it is destroyed.
using listeners = std::shared_ptr<void>;

listeners subscribers(redis_server const& server, asio::any_io_executor) {
    auto all = std::make_shared<std::deque<redis_probe>>();
    for (int i = 0; i < 5; ++i) {
        all->emplace_back(server.unix_socket()).subscribe(channel);
    }
    return all;
}

// Without hand-over they are not counted as clients that queue.
listeners observers(redis_server const& server, asio::any_io_executor executor) {
    struct observing {
        std::deque<holdfast::client> clients;
        std::deque<holdfast::leader_observer> all;
    };
    auto made = std::make_shared<observing>();
    for (bool const hands_over : {false, false, true}) {
        auto settings = holdfast::parse_url(server.url());
        settings.hand_over = hands_over;
        auto& client = made->clients.emplace_back(executor, settings);
        auto& one = made->all.emplace_back(client.election("L").observe());
        one.next([](error_code, holdfast::leader_info const&) {});
    }
    return made;
}

// Channels have no database. Another client has the lock there.
listeners clients_elsewhere(redis_server const& server, asio::any_io_executor executor) {
    auto made = std::make_shared<std::deque<holdfast::client>>();
    for (bool const hands_over : {false, false, true}) {
        auto settings = holdfast::parse_url(server.url());
        settings.database = 1;
        settings.hand_over = hands_over;
        made->emplace_back(executor, settings)
            .lock("L")
            .acquire([](error_code, holdfast::lease const&) {});
    }
    return made;
}

}  // namespace

// Each turn that others get costs those in the queue 20 ms, and is published. Turns that nobody
// uses become rarer, by the server's clock: a loaded machine makes none of them come sooner.
BOOST_AUTO_TEST_CASE(others_who_only_listen_get_ever_fewer_turns) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        auto elsewhere = server.probe();
        elsewhere.cmd("SELECT", 1);
        elsewhere.cmd("HSET", "L", "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1", 1);
        for (auto const kind : {subscribers, observers, clients_elsewhere}) {
            auto listener = server.probe();
            listener.subscribe(channel);
            auto const count = [&] {
                int messages = 0;
                while (listener.next_message(0ms)) {
                    ++messages;
                }
                return messages;
            };
            passing four{server, executor};
            auto const others = kind(server, executor);
            auto const listen = [&] { return probe.pubsub_numsub(channel) >= 5; };
            BOOST_TEST(co_await co_eventually(10s, listen));
            co_await sleep_for(1s);
            count();
            auto const grants_before = four.grants;
            co_await sleep_for(2s);
            // Two messages each.
            auto const messages = count();
            BOOST_TEST(messages <= 12, messages << " messages in two seconds");
            BOOST_TEST(four.grants > grants_before + 20);
            co_await four.end();
        }
        BOOST_TEST(!probe.exists("L"));
    });
}

// It has the lock once in a turn, and not when the turn would end.
BOOST_AUTO_TEST_CASE(a_client_of_0_1_that_holds_briefly_has_used_its_turn) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        passing four{server, executor};
        auto const others = subscribers(server, executor);
        first_version_peer peer{server.unix_socket(), "L"};
        int theirs = 0;
        int ours = 0;
        auto const end = std::chrono::steady_clock::now() + 4s;
        while (std::chrono::steady_clock::now() < end) {
            co_await peer.acquire();
            co_await sleep_for(1ms);
            ours = four.grants;
            peer.release();
            ++theirs;
            co_await sleep_for(30ms);
        }
        BOOST_TEST(theirs >= 20, theirs << " beside " << ours);
        BOOST_TEST(ours >= 100, ours << " beside " << theirs);
        co_await four.end();
    });
}
