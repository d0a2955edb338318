// The queue of a lock: turns of clients that do not queue, and places that come back.

#include "protocol/hand_over_message.hpp"
#include "protocol/lock.hpp"
#include "protocol/multi_lock.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::detail;
using holdfast::test::on_model;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

auto const on = make_lock_target("", "L");
std::string const queue{on.queue()};
constexpr milliseconds window{3'000};

// Each number is a client of its own.
holder_id id(std::uint64_t number) {
    auto const digits = std::to_string(100'000'000'000U + number);
    return holder_id::of_number("0f4b1c5e-7a3d-4e8b-9c21-" + digits, number);
}

struct lock_world : on_model {
    explicit lock_world(std::string_view heard = on.channel()) : on_model{heard} {}

    attempt_reply acquire(std::uint64_t who, former_place const& had = {}, bool waits = true) {
        auto const reply = speaks.read_acquire(run(speaks.acquire({
            .on = on,
            .id = id(who),
            .lease = 30s,
            .counter_ttl = 1h,
            .timeout = 3s,
            .hand_over = true,
            .window = waits ? window : 0ms,
            .had = had,
        })));
        BOOST_TEST(error == "");
        return reply;
    }
    bool granted(std::uint64_t who, former_place const& had = {}, bool waits = true) {
        return acquire(who, had, waits).what == attempt_reply::kind::granted;
    }
    /// `next`: the releaser queues again with this holder id.
    release_reply release(std::uint64_t who, std::uint64_t next = 0) {
        primitive::parting what{
            .on = on,
            .id = id(who),
            .timeout = 3s,
            .hand_over = true,
            .counter_ttl = 1h,
        };
        if (next != 0) {
            what.next = primitive::queue_entry{id(next), window};
        }
        auto const reply = speaks.read_release(run(speaks.release(what)));
        BOOST_TEST(error == "");
        return reply;
    }
    /// A client that listens to these channels.
    holdfast::memory::redis_model::session_id listen(std::vector<std::string> const& channels) {
        auto const listener = server.connect([](holdfast::memory::value) {});
        for (auto const& channel : channels) {
            server.execute(listener, {"SUBSCRIBE", channel});
        }
        return listener;
    }
    /// One that queues.
    void listen_as(std::uint64_t who) {
        auto const holder = id(who);
        auto const client = holder.view();
        std::string const own{client.substr(0, client.rfind(':'))};
        listen({on.channel(), on.waiters(), "holdfast_client:" + own});
    }
    /// The holder, as the client of a number; 0: it is free.
    std::uint64_t holder() {
        auto const fields = ask({"HKEYS", on.lock});
        if (fields.elements.empty()) {
            return 0;
        }
        auto const& field = fields.elements[0].text;
        return std::stoull(field.substr(24, 12)) - 100'000'000'000U;
    }

    primitive const& speaks = lock_protocol();
};

// Two clients that pass the lock to each other, each for a millisecond, and perhaps one of another
// make that takes the lock for so long whenever it is free.
struct contest : lock_world {
    contest() : lock_world{"another channel"} {
        listen_as(1);
        listen_as(2);
        BOOST_TEST_REQUIRE(granted(1));
        BOOST_TEST(!granted(2));
    }
    // `others`: they take the lock in their turns. How often the two had the lock.
    int run_for(microseconds time, bool others) {
        int grants = 0;
        auto const end = server.time() + time.count();
        while (server.time() < end) {
            later(1ms);
            auto const other = holding == 1 ? 2U : 1U;
            if (release(holding, holding).handed_over) {
                holding = other;
                ++grants;
                continue;
            }
            turn(other, others);
            ++grants;
        }
        return grants;
    }
    void turn(std::uint64_t first, bool used) {
        ++turns;
        if (used && brief > 0us) {
            ask({"HSET", on.lock, "71b9d3a0-0c52-4f4e-8f0a-2f3c8f1ea111:1", "1"});
            later(brief);
            ask({"DEL", on.lock});
            ++theirs;
            // Its message reaches those that queue: the first one asks.
        } else if (used) {
            // It has the lock when the turn ends.
            for (int i = 0; i < 20; ++i) {
                ask({"HSET", on.lock, "71b9d3a0-0c52-4f4e-8f0a-2f3c8f1ea111:1", "1"});
                later(1ms);
                ask({"DEL", on.lock});
                ++theirs;
            }
            ask({"HSET", on.lock, "71b9d3a0-0c52-4f4e-8f0a-2f3c8f1ea111:1", "1"});
            BOOST_TEST(!granted(first));
            ask({"DEL", on.lock});
        } else {
            later(10ms);
            BOOST_TEST(!granted(9, {}, false));
            later(10ms);
        }
        later(200us);
        if (!granted(first)) {
            later(20ms);
            BOOST_TEST_REQUIRE(granted(first));
        }
        holding = first;
    }
    // Nobody waits any more: the queue is empty for a moment.
    void stop_waiting() {
        while (!release(holding).handed_over && !granted(3 - holding)) {
            later(1ms);
        }
        holding = 3 - holding;
        release(holding);
        BOOST_TEST(holder() == 0U);
        holding = 1;
        later(100us);
        BOOST_TEST_REQUIRE(granted(1));
        BOOST_TEST(!granted(2));
    }
    std::uint64_t holding = 1;
    int turns = 0;
    int theirs = 0;
    // Who does not queue has the lock once in a turn, for so long. Zero: for the whole of it.
    microseconds brief{0};
};

// Some that have gone, in front of those that wait.
struct behind_the_dead : lock_world {
    explicit behind_the_dead(int dead) {
        BOOST_TEST_REQUIRE(granted(1));
        for (int i = 0; i < dead; ++i) {
            auto const gone = std::string{id(100U + static_cast<unsigned>(i)).view()} + " 3000";
            ask({"ZADD", queue, std::to_string(server.time() + i), gone});
        }
        later(1ms);
        for (std::uint64_t who = 2; who <= 4; ++who) {
            listen_as(who);
            auto const reply = acquire(who);
            BOOST_TEST_REQUIRE(reply.place.has_value());
            places[who] = {reply.place->score, 0us, 0us};
            later(1ms);
        }
    }
    former_place places[5];
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lock_queue_test)

// --- turns

BOOST_FIXTURE_TEST_CASE(idle_listeners_cost_less_than_a_twentieth, contest) {
    for (int i = 0; i < 50; ++i) {
        listen({on.channel()});
    }
    BOOST_TEST(run_for(5s, false) > 4'750);
    BOOST_TEST(turns > 4);
    auto const before = turns;
    run_for(5s, false);
    BOOST_TEST(turns - before <= 5);
}

BOOST_FIXTURE_TEST_CASE(idle_listeners_cost_less_than_a_twentieth_where_queues_empty, contest) {
    for (int i = 0; i < 5; ++i) {
        listen({on.channel()});
    }
    // Two pauses are long enough for a turn, and one is not.
    for (auto const life : {90ms, 110ms, 150ms, 420ms, 900ms}) {
        turns = 0;
        auto const began = server.time();
        while (server.time() - began < 20'000'000) {
            run_for(life, false);
            stop_waiting();
        }
        BOOST_TEST_CONTEXT(life.count()) {
            BOOST_TEST(turns <= 50);
        }
    }
}

// Each time it has the lock for less than the turn that it has. Those that queue hear of its end.
BOOST_FIXTURE_TEST_CASE(who_holds_for_less_than_a_turn_has_used_it, contest) {
    listen({on.channel()});
    brief = 1ms;
    auto const ours = run_for(5s, true);
    BOOST_TEST(theirs > 1'000);
    BOOST_TEST(ours > 1'000);
    // The turn ends with the hold.
    BOOST_TEST(theirs + ours > 3'000);
}

BOOST_FIXTURE_TEST_CASE(a_turn_is_not_ended_by_a_client_that_comes_new, contest) {
    listen({on.channel()});
    while (release(holding, holding).handed_over) {
        holding = 3 - holding;
        later(1ms);
    }
    later(1ms);
    listen_as(3);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(!granted(3));
        BOOST_TEST(!granted(4, {}, false));
        BOOST_TEST(holder() == 0U);
    }
    BOOST_TEST(granted(3 - holding));
}

BOOST_FIXTURE_TEST_CASE(who_does_not_queue_has_its_share_of_turns, contest) {
    listen({on.channel()});
    auto const ours = run_for(5s, true);
    BOOST_TEST(ours < 4'000);
    BOOST_TEST(theirs > 1'000);
}

BOOST_FIXTURE_TEST_CASE(one_that_waited_in_vain_for_long_has_its_share_soon, contest) {
    listen({on.channel()});
    run_for(20s, false);
    auto const ours = run_for(5s, true);
    BOOST_TEST(ours < 4'000);
    BOOST_TEST(theirs > 1'000);
}

// It listens to the channel of those that queue, and nowhere else.
BOOST_FIXTURE_TEST_CASE(a_listener_takes_nobodys_turns_away, contest) {
    listen({on.channel()});
    listen({on.waiters()});
    run_for(9'990ms, false);
    auto const ours = run_for(5s, true);
    BOOST_TEST(ours < 4'000);
    BOOST_TEST(theirs > 1'000);
}

BOOST_FIXTURE_TEST_CASE(clients_that_queue_give_no_turns_among_themselves, contest) {
    BOOST_TEST(run_for(5s, false) >= 4'999);
    BOOST_TEST(turns == 0);
}

BOOST_FIXTURE_TEST_CASE(a_turn_ends_although_the_clock_steps_back, contest) {
    listen({on.channel()});
    while (release(holding, holding).handed_over) {
        holding = 3 - holding;
        later(1ms);
    }
    later(-1h);
    BOOST_TEST(granted(3 - holding));
}

BOOST_FIXTURE_TEST_CASE(the_next_turn_comes_although_the_clock_steps_back, contest) {
    listen({on.channel()});
    run_for(3s, true);
    later(-1h);
    theirs = 0;
    run_for(1s, true);
    BOOST_TEST(theirs > 100);
}

// --- places

BOOST_FIXTURE_TEST_CASE(a_place_comes_back_before_those_that_came_later, lock_world) {
    BOOST_TEST_REQUIRE(granted(1));
    auto const first = acquire(2);
    BOOST_TEST_REQUIRE(first.place.has_value());
    later(1ms);
    listen_as(3);
    BOOST_TEST(!granted(3));
    ask({"ZREM", queue, std::string{id(2).view()} + " 3000"});
    // The lock is free, and nobody was given it.
    ask({"DEL", on.lock});
    listen_as(2);
    BOOST_TEST(granted(2, {first.place->score, 1ms, 1ms}));
}

BOOST_FIXTURE_TEST_CASE(a_place_of_another_clock_passes_nobody_by, lock_world) {
    BOOST_TEST_REQUIRE(granted(1));
    auto const first = acquire(2);
    BOOST_TEST_REQUIRE(first.place.has_value());
    later(5s);
    // It came three seconds later, by its own clock.
    auto const old = acquire(3, {1'000, 2s, 10s});
    BOOST_TEST_REQUIRE(old.place.has_value());
    BOOST_TEST(old.place->score > first.place->score);
    BOOST_TEST(old.place->ahead == 1U);
    auto const far = acquire(4, {first.place->score + 3'600'000'000U, 2s, 10s});
    BOOST_TEST_REQUIRE(far.place.has_value());
    BOOST_TEST(far.place->score <= far.place->server_time + 1);
    later(1ms);
    auto const newcomer = acquire(5);
    BOOST_TEST_REQUIRE(newcomer.place.has_value());
    BOOST_TEST(newcomer.place->ahead == 3U);
}

BOOST_AUTO_TEST_CASE(those_that_are_gone_cost_one_release_for_64_and_no_order) {
    for (int const dead : {1, 63, 64, 65, 200}) {
        BOOST_TEST_CONTEXT(dead << " have gone") {
            behind_the_dead all{dead};
            all.heard();
            int messages = 0;
            std::vector<std::uint64_t> order;
            all.release(1);
            for (int i = 0; i < 100 && order.size() < 3; ++i) {
                messages += all.heard().empty() ? 0 : 1;
                if (auto const holder = all.holder(); holder != 0) {
                    order.push_back(holder);
                    all.release(holder);
                    continue;
                }
                // The last one asks first, and may get the lock when it is its turn.
                for (std::uint64_t who = 4; who >= 2 && all.holder() == 0; --who) {
                    all.granted(who, all.places[who]);
                }
            }
            BOOST_TEST(order == (std::vector<std::uint64_t>{2, 3, 4}));
            BOOST_TEST(messages <= 1 + dead / 64);
            BOOST_TEST(all.ask({"EXISTS", queue}).number == 0);
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_try_has_a_lock_that_nobody_alive_waits_for, lock_world) {
    BOOST_TEST_REQUIRE(granted(1));
    for (std::uint64_t gone = 100; gone < 300; ++gone) {
        BOOST_TEST(!granted(gone));
    }
    release(1);
    BOOST_TEST(granted(2, {}, false));
}

// The last client that queued has died, and so has its lock.
BOOST_AUTO_TEST_CASE(a_turn_that_stays_behind_keeps_nobody_from_several_locks) {
    lock_world all;
    all.listen_as(1);
    all.listen_as(2);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(!all.granted(2));
    all.release(1);
    BOOST_TEST(all.holder() == 2U);
    auto const other = make_lock_target("", "other");
    auto const who = id(3);
    auto const together = [&] {
        std::vector<primitive::attempt> attempts;
        for (auto const* const each : {&on, &other}) {
            attempts.push_back({
                .on = *each,
                .id = who,
                .lease = 30s,
                .counter_ttl = 1h,
                .timeout = 3s,
                .hand_over = true,
            });
        }
        auto const said = reply_to(all.run(acquire_together(attempts)), 0);
        return all.speaks.read_acquire(said).what;
    };
    BOOST_TEST((together() == attempt_reply::kind::busy));
    all.ask({"DEL", on.lock});
    BOOST_TEST(all.ask({"ZRANGE", queue, "0", "-1"}).elements.size() == 1U);
    BOOST_TEST((together() == attempt_reply::kind::granted));
    // And so do the places of others: nobody is there.
    all.ask({"DEL", on.lock});
    BOOST_TEST(all.granted(1));
    BOOST_TEST(!all.granted(4));
    all.ask({"DEL", on.lock});
    BOOST_TEST((together() == attempt_reply::kind::granted));
}

// On a cluster a client listens to a channel for each lock.
BOOST_AUTO_TEST_CASE(on_a_cluster_each_of_several_locks_is_refused_for_those_who_wait_for_it) {
    on_model all{"unused"};
    target const both[] = {make_lock_target("", "{t}a"), make_lock_target("", "{t}b")};
    auto const who = id(3);
    std::vector<primitive::attempt> attempts;
    for (auto const& each : both) {
        attempts.push_back({
            .on = each,
            .id = who,
            .lease = 30s,
            .counter_ttl = 1h,
            .timeout = 3s,
            .hand_over = true,
        });
    }
    auto const sent = acquire_together(attempts);
    auto const outcome = [&] {
        auto const keys = std::to_string(sent.keys());
        std::vector<std::string_view> words{"EVAL", sent.what().cluster.text, keys};
        for (std::size_t i = 0; i < sent.size(); ++i) {
            words.push_back(sent.word(i));
        }
        words.emplace_back("nonce");
        return all.server.execute(all.session, words).value().text;
    };
    auto const waits = id(1);
    auto const entry = std::string{waits.view()} + " 3000";
    all.ask({"ZADD", both[1].queue(), "1", entry});
    auto const client = waits.view().substr(0, waits.view().rfind(':'));
    auto const listener = all.server.connect([](holdfast::memory::value) {});
    all.server.execute(listener, {"SUBSCRIBE", channel_of_client(client, both[1])});
    BOOST_TEST(outcome() == "nonce 0 1");
    all.server.execute(listener, {"UNSUBSCRIBE"});
    BOOST_TEST(outcome().starts_with("nonce 1 "));
}

BOOST_AUTO_TEST_SUITE_END()
