// An election on a real server: who leads and in which order, and what is left to whom by an error.

#include "integration/election_fixture.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <deque>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;
using holdfast::leader_info;
using holdfast::leadership;

BOOST_AUTO_TEST_CASE(one_leads_is_seen_and_resigns) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const election = client.election("{}", "E");
        BOOST_TEST(election.name() == "E");
        BOOST_TEST(!(co_await election.leader()));
        auto observer = election.observe();
        BOOST_TEST(!(co_await observer.next()));

        auto leads = co_await election.campaign("10.0.0.7:9000");
        BOOST_TEST(leads.valid());
        BOOST_TEST(bool(leads));
        BOOST_TEST((leads.state() == lease_state::held));
        auto const who = co_await election.leader();
        BOOST_TEST(who.value == "10.0.0.7:9000");
        BOOST_TEST((who.term == leads.term()));
        BOOST_TEST(probe.hgetall("E").contains(who.holder));
        auto const seen = co_await observer.next();
        BOOST_TEST((seen == who));

        co_await leads.proclaim("10.0.0.7:9001");
        auto const moved = co_await observer.next();
        BOOST_TEST(moved.value == "10.0.0.7:9001");
        BOOST_TEST((moved.term == who.term));

        auto const term = leads.term();
        co_await leads.resign();
        BOOST_TEST(!leads);
        BOOST_TEST((leads.term() == term));
        BOOST_TEST(!(co_await observer.next()));
        BOOST_TEST(!(co_await election.leader()));
        BOOST_TEST(!probe.exists("E"));
        auto const [resigned] = co_await leads.resign(as_result);
        BOOST_TEST((resigned == errc::not_held));
        auto const [proclaimed] = co_await leads.proclaim("x", as_result);
        BOOST_TEST((proclaimed == errc::not_held));
    });
}

BOOST_AUTO_TEST_CASE(candidates_of_several_clients_lead_in_the_order_in_which_they_came) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        auto probe = server.probe();
        std::deque<candidate> candidates;
        for (int i = 0; i < 5; ++i) {
            auto const& client = clients.emplace_back(executor, quiet(server.url()));
            candidates.emplace_back(client.election("E"), std::to_string(i));
            auto const came = [&] {
                return probe.exists("E") &&
                       probe.cmd("ZCARD", "holdfast_queue:{E}").as_integer() == i;
            };
            BOOST_TEST(co_await co_eventually(10s, came));
        }
        witness const seen{executor, clients[2].election("E").observe()};
        holdfast::fencing_token last;
        for (auto& next : candidates) {
            BOOST_TEST(co_await co_eventually(10s, [&] { return next.leads(); }));
            BOOST_TEST((next.won.term() > last));
            last = next.won.term();
            auto const who = co_await clients[3].election("E").leader();
            BOOST_TEST((who.term == last));
            BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == who.value; }));
            co_await next.won.resign();
        }
        auto const all = [&] { return seen.leaders().size() == 5U && seen.last() == "-"; };
        BOOST_TEST(co_await co_eventually(10s, all));
        BOOST_TEST(seen.leaders() == list({"0", "1", "2", "3", "4"}));
        BOOST_TEST(seen.terms_grow());
    });
}

BOOST_AUTO_TEST_CASE(candidates_of_one_client_lead_one_after_the_other) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const election = client.election("E");
        std::deque<candidate> candidates;
        for (int i = 0; i < 10; ++i) {
            candidates.emplace_back(election, std::to_string(i));
        }
        holdfast::fencing_token last;
        for (auto& next : candidates) {
            BOOST_TEST(co_await co_eventually(10s, [&] { return next.leads(); }));
            BOOST_TEST((next.won.term() > last));
            last = next.won.term();
            // They share a hold, and so the holder's id. Who has gone leads no more.
            BOOST_TEST(((co_await election.leader()).term == last));
            co_await next.won.resign();
        }
        BOOST_TEST(!(co_await election.leader()));
        BOOST_TEST(!probe.exists("E"));
    });
}

BOOST_AUTO_TEST_CASE(a_leader_that_is_gone_leads_until_its_lease_has_ended) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto settings = quiet(proxy.url());
        settings.lease = 1s;
        holdfast::client leader{executor, settings};
        holdfast::client other{executor, quiet(server.url())};
        witness const seen{executor, other.election("E").observe()};
        auto leads = co_await leader.election("E").campaign("doomed");
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "doomed"; }));
        // It is renewed meanwhile, and the observer finds it so.
        co_await sleep_for(1500ms);
        BOOST_TEST(seen.last() == "doomed");
        proxy.refuse_new(true);
        proxy.cut();
        BOOST_TEST((co_await other.election("E").leader()).value == "doomed");
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "-"; }));
        BOOST_TEST(!(co_await other.election("E").leader()));
        BOOST_TEST(!leads.valid());
        BOOST_TEST(seen.leaders() == list({"doomed"}));
        proxy.refuse_new(false);
    });
}

BOOST_AUTO_TEST_CASE(after_a_reconnection_the_server_has_the_value_again) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, quiet(server.url())};
        holdfast::client other{executor, quiet(server.url())};
        auto probe = server.probe();
        auto leads = co_await client.election("E").campaign("a");
        co_await leads.proclaim("b");
        witness const seen{executor, other.election("E").observe()};
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "b"; }));
        // As if a replica had taken over that had not got it yet.
        probe.del(leader_key);
        BOOST_TEST(!(co_await other.election("E").leader()));
        probe.client_kill_type("normal");
        leader_info who;
        for (int i = 0; i < 500 && !who; ++i) {
            co_await sleep_for(10ms);
            auto const asked = co_await other.election("E").leader(as_result);
            who = std::get<1>(asked);
        }
        BOOST_TEST(who.value == "b");
        BOOST_TEST((who.term == leads.term()));
        BOOST_TEST(leads.valid());
    });
}

BOOST_AUTO_TEST_CASE(values_have_a_length_and_options_no_owner) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const election = client.election("E");
        auto const longest = std::string(64 * 1024, '\0');
        auto const too_long = longest + "x";
        auto const [refused, none] = co_await election.campaign(too_long, as_result);
        BOOST_TEST((refused == errc::invalid_options));
        BOOST_TEST(!none);
        acquire_options options;
        options.owner = holdfast::owner::make();
        auto const [owned, nothing] = co_await election.campaign("v", options, as_result);
        BOOST_TEST((owned == errc::invalid_options));
        auto const [unnamed, no_one] = co_await client.election("").campaign("v", as_result);
        BOOST_TEST((unnamed == errc::invalid_name));
        auto const [asked, who] = co_await client.election("").leader(as_result);
        BOOST_TEST((asked == errc::invalid_name));
        auto unnamed_observer = client.election("").observe();
        auto const [observed, seen] = co_await unnamed_observer.next(as_result);
        BOOST_TEST((observed == errc::invalid_name));
        BOOST_TEST(!probe.exists("E"));

        options.owner.reset();
        options.lease = 5s;
        auto leads = co_await election.campaign(longest, options);
        BOOST_TEST(probe.pttl("E") <= 5'000);
        BOOST_TEST((co_await election.leader()).value == longest);
        auto const [proclaimed] = co_await leads.proclaim(too_long, as_result);
        BOOST_TEST((proclaimed == errc::invalid_options));
        BOOST_TEST(probe.pttl(leader_key) > 29LL * 24 * 3'600'000);
    });
}

BOOST_AUTO_TEST_CASE(a_value_is_proclaimed_once_whatever_becomes_of_the_request_and_its_answer) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        for (auto const fault :
             {command_fault::lose,
              command_fault::lose_reply,
              command_fault::lose_reply_and_cut,
              command_fault::drop_replies,
              command_fault::duplicate,
              command_fault::unknown_script}) {
            probe.flushall();
            holdfast::client client{executor, quiet(proxy.url())};
            co_await client.ready();
            proxy.when_client_sends("holdfast_leader:{E}", fault);
            auto leads = co_await client.election("E").campaign("a");
            BOOST_TEST(proxy.pending_faults() == 0U);
            proxy.when_client_sends("holdfast_leader:{E}", fault);
            co_await leads.proclaim("b");
            BOOST_TEST(proxy.pending_faults() == 0U);
            auto const second = to_string(leads.term()) + " 2 ";
            BOOST_TEST(probe.get(leader_key).value_or("").starts_with(second));
            auto const who = co_await client.election("E").leader();
            BOOST_TEST(who.value == "b");
            BOOST_TEST((who.term == leads.term()));
        }
    });
}

BOOST_AUTO_TEST_CASE(who_loses_the_lock_before_its_value_is_there_campaigns_on) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, quiet(proxy.url())};
        auto probe = server.probe();
        {
            auto first = co_await client.election("E").campaign("teaches the scripts");
            co_await first.resign();
        }
        probe.del(leader_key);
        proxy.when_client_sends("holdfast_leader:{E}", command_fault::lose);
        candidate one{client.election("E"), "a"};
        BOOST_TEST(co_await co_eventually(10s, [&] { return proxy.pending_faults() == 0; }));
        probe.del("E");
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.leads(); }));
        BOOST_TEST(client.stats().grants == 3U);
        BOOST_TEST((co_await client.election("E").leader()).term.value == one.won.term().value);
    });
}

BOOST_AUTO_TEST_CASE(with_memory_full_nobody_becomes_leader_until_there_is_some) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        candidate one{client.election("E"), "a"};
        co_await sleep_for(200ms);
        BOOST_TEST(one.completions == 0);
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.leads(); }));
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        BOOST_TEST((co_await client.election("E").leader()).value == "a");
        co_await one.won.resign();
        BOOST_TEST(!(co_await client.election("E").leader()));
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
    });
}

BOOST_AUTO_TEST_CASE(something_else_under_its_keys_is_not_touched) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const election = client.election("E");
        probe.set(leader_key, "mine");
        auto const [ec, none] = co_await election.campaign("a", as_result);
        BOOST_TEST((ec == errc::corrupt_state));
        BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists("E"); }));
        auto const [asked, who] = co_await election.leader(as_result);
        BOOST_TEST((asked == errc::corrupt_state));
        auto observer = election.observe();
        auto const [observed, seen] = co_await observer.next(as_result);
        BOOST_TEST((observed == errc::corrupt_state));
        BOOST_TEST(probe.get(leader_key).value_or("") == "mine");
        probe.del(leader_key);
        BOOST_TEST(!(co_await observer.next()));
    });
}

BOOST_AUTO_TEST_CASE(a_campaign_that_is_cancelled_while_it_proclaims_gives_the_lock_back) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        for (auto const type :
             {asio::cancellation_type::terminal,
              asio::cancellation_type::partial,
              asio::cancellation_type::all,
              asio::cancellation_type::total}) {
            holdfast::client client{executor, quiet(proxy.url())};
            co_await client.ready();
            proxy.when_client_sends("holdfast_leader:{E}", command_fault::lose_reply);
            asio::cancellation_signal signal;
            error_code ec;
            leadership won;
            bool done = false;
            auto const note = [&](error_code how, leadership given) {
                ec = how;
                won = std::move(given);
                done = true;
            };
            client.election("E").campaign("a", asio::bind_cancellation_slot(signal.slot(), note));
            BOOST_TEST(co_await co_eventually(10s, [&] { return proxy.pending_faults() == 0; }));
            signal.emit(type);
            BOOST_TEST(co_await co_eventually(10s, [&] { return done; }));
            if (type == asio::cancellation_type::total) {
                BOOST_TEST(!ec);
                BOOST_TEST(won.valid());
                co_await won.resign();
            } else {
                BOOST_TEST((ec == asio::error::operation_aborted));
                BOOST_TEST(!won);
            }
            BOOST_TEST(co_await co_eventually(10s, [&] { return !probe.exists("E"); }));
        }
    });
}

BOOST_AUTO_TEST_CASE(campaigns_that_are_cancelled_at_any_time_leave_nothing_behind) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        for (int i = 0; i < 2; ++i) {
            clients.emplace_back(executor, quiet(server.url()));
        }
        auto probe = server.probe();
        int won = 0;
        int running = 0;
        int wrong = 0;
        auto const contend = [&](holdfast::client& client, int beginning) -> task {
            for (int i = 0; i < 150; ++i) {
                auto const limit = std::chrono::microseconds{(beginning + i * 37) % 3'000};
                auto [ec, leads] = co_await client.election("E").campaign(
                    "a",
                    asio::cancel_after(limit, as_result)
                );
                wrong += ec && ec != asio::error::operation_aborted ? 1 : 0;
                won += leads.valid() ? 1 : 0;
            }
            --running;
        };
        for (int i = 0; i < 6; ++i) {
            ++running;
            auto& client = clients[static_cast<std::size_t>(i) % 2];
            asio::co_spawn(executor, contend(client, i * 500), asio::detached);
        }
        BOOST_TEST(co_await co_eventually(50s, [&] { return running == 0; }));
        BOOST_TEST(wrong == 0);
        BOOST_TEST_MESSAGE(won << " campaigns were won");
        auto const clean = [&] {
            return !probe.exists("E") && !probe.exists("holdfast_queue:{E}");
        };
        BOOST_TEST(co_await co_eventually(10s, clean));
        for (auto const& client : clients) {
            BOOST_TEST(client.stats().waiters_now == 0U);
        }
    });
}

// As the page on the server's user says.
BOOST_AUTO_TEST_CASE(a_user_needs_few_rights) {
    std::string const rights =
        "resetchannels ~app:* ~redisson_lock_token:{app:* ~redisson_lock__channel:{app:* "
        "~holdfast_queue:{app:* ~holdfast_hold:{app:* &redisson_lock__channel:{app:* "
        "&holdfast_waiters:{app:* &holdfast_client:* ~holdfast_leader:{app:* "
        "&holdfast_leader:{app:* -@all +hello +ping +time +evalsha +eval "
        "+subscribe +unsubscribe +pttl +hkeys +hgetall +hexists +hset +hdel +set +get +incr "
        "+incrby +pexpire +pexpireat +exists +del +publish +zadd +zrem +zrange +zrank +zscore "
        "+zcount +pubsub|numsub +persist";
    with_alice(rights, [](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.key_prefix = "app:";
        settings.fence_ttl = holdfast::config::never;
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        auto leads = co_await client.election("E").campaign("a");
        BOOST_TEST(server.probe().pttl("holdfast_leader:{app:E}") == -1);

        std::string const to_observe =
            "resetchannels ~app:* ~holdfast_leader:{app:* &holdfast_leader:{app:* "
            "&holdfast_waiters:{app:* &redisson_lock__channel:{app:* -@all +hello +ping +time "
            "+evalsha +eval +subscribe +unsubscribe +pttl +hexists +get";
        std::vector<std::string> rule{"ACL", "SETUSER", "bob", "on", ">secret"};
        for (std::size_t at = 0; at < to_observe.size();) {
            auto const end = std::min(to_observe.find(' ', at), to_observe.size());
            rule.push_back(to_observe.substr(at, end - at));
            at = end + 1;
        }
        server.probe().command(rule);
        settings.username = "bob";
        holdfast::client observing{executor, settings};
        witness const seen{executor, observing.election("E").observe()};
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "a"; }));
        BOOST_TEST((co_await observing.election("E").leader()).value == "a");
        auto const [refused, none] = co_await observing.election("E").campaign("b", as_result);
        BOOST_TEST((refused == errc::no_permission));
        candidate next{other.election("E"), "b"};
        co_await leads.resign();
        BOOST_TEST(co_await co_eventually(10s, [&] { return seen.last() == "b"; }));
        BOOST_TEST(client.stats().refused_notifications == 0U);
    });
}
