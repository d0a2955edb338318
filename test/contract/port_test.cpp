// What the operations rely on in a redis port: one suite, for the real port on a private server and
// for the stand-in, which proves nothing unless it passes too.

#include "ops/counters.hpp"
#include "redis/boost_redis_port.hpp"
#include "redis/scripts.hpp"
#include "support/fake_port.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <boost/asio/strand.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace detail = holdfast::detail;
using detail::exec_result;
using detail::exec_status;
using holdfast::errc;
using holdfast::error_code;
using holdfast::test::co_eventually;
using holdfast::test::fake_server;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;
using holdfast::test::sleep_for;
using milliseconds = std::chrono::milliseconds;

namespace {

// A server behind a port, and what a test does to it behind the port's back.
class backend {
public:
    virtual ~backend() = default;
    virtual std::unique_ptr<detail::redis_port> make_port(
        asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    ) = 0;
    virtual bool exists(std::string const& key) = 0;
    virtual milliseconds pttl(std::string const& key) = 0;
    virtual std::size_t subscriptions() = 0;
    virtual void hset(std::string const& key, std::string const& field) = 0;
    virtual void set(std::string const& key, std::string const& text) = 0;
    virtual void publish(std::string const& channel) = 0;
    virtual void break_connections() = 0;
    virtual void mend_connections() = 0;
    virtual void pause() = 0;
    virtual void resume() = 0;
};

class fake_backend final : public backend {
public:
    std::unique_ptr<detail::redis_port> make_port(
        asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    ) override {
        return server_->make_port(strand, std::make_shared<holdfast::config>(), count);
    }
    bool exists(std::string const& key) override { return server_->exists(key); }
    milliseconds pttl(std::string const& key) override { return milliseconds{server_->pttl(key)}; }
    std::size_t subscriptions() override { return server_->subscriptions(); }
    void hset(std::string const& key, std::string const& field) override {
        server_->hset(key, field, "1");
    }
    void set(std::string const& key, std::string const& text) override { server_->set(key, text); }
    void publish(std::string const& channel) override { server_->publish(channel); }
    void break_connections() override { server_->set_up(false); }
    void mend_connections() override { server_->set_up(true); }
    void pause() override { server_->hold_requests(true); }
    void resume() override { server_->hold_requests(false); }

private:
    std::shared_ptr<fake_server> server_ = fake_server::make();
};

class real_backend final : public backend {
public:
    std::unique_ptr<detail::redis_port> make_port(
        asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    ) override {
        auto settings = std::make_shared<holdfast::config>(holdfast::parse_url(server_.url()));
        settings->reconnect_max = 100ms;
        return detail::make_boost_redis_port(strand, settings, count);
    }
    bool exists(std::string const& key) override { return probe().exists(key); }
    milliseconds pttl(std::string const& key) override { return milliseconds{probe().pttl(key)}; }
    std::size_t subscriptions() override { return probe().pubsub_channels().size(); }
    void hset(std::string const& key, std::string const& field) override {
        probe().cmd("HSET", key, field, "1");
    }
    void set(std::string const& key, std::string const& text) override { probe().set(key, text); }
    void publish(std::string const& channel) override { probe().publish(channel, "0"); }
    void break_connections() override {
        probe_.reset();
        server_.kill();
    }
    void mend_connections() override { server_.restart(false); }
    void pause() override { server_.pause(); }
    void resume() override { server_.resume(); }

private:
    holdfast::test::redis_probe& probe() {
        if (!probe_) {
            probe_.emplace(server_.probe());
        }
        return *probe_;
    }

    redis_server server_;
    std::optional<holdfast::test::redis_probe> probe_;
};

struct maker {
    char const* name;
    std::function<std::unique_ptr<backend>()> make;
    friend std::ostream& operator<<(std::ostream& out, maker const& m) { return out << m.name; }
};

std::vector<maker> const both{
    {"stand-in", [] { return std::make_unique<fake_backend>(); }},
    {"real", [] { return std::make_unique<real_backend>(); }},
};

// Notes everything that a port has to say.
class recorder final : public detail::port_events {
public:
    void on_commands_up() override { note("commands up"); }
    void on_commands_down() override { note("commands down"); }
    void on_failure(error_code) override { note("failure"); }
    void on_notices_up() override { note("notices up"); }
    void on_notices_down() override { note("notices down"); }
    void on_subscribed(std::string_view channel, bool again) override {
        note((again ? "subscribed again " : "subscribed ") + std::string{channel});
    }
    void on_subscribe_refused(std::string_view channel, error_code) override {
        note("refused " + std::string{channel});
    }
    void on_notice(std::string_view channel) override { note("notice " + std::string{channel}); }

    std::size_t count(std::string const& what) const {
        return static_cast<std::size_t>(std::count(noted.begin(), noted.end(), what));
    }
    bool has(std::string const& what) const { return count(what) != 0; }

    std::vector<std::string> noted;
    bool inside_call = false;

private:
    void note(std::string what) {
        BOOST_TEST(!inside_call);
        noted.push_back(std::move(what));
    }
};

struct pending {
    std::optional<exec_result> result;
};

// A port at work. The tests run on one thread, so that its strand is theirs.
class port_user {
public:
    port_user(backend& server, asio::any_io_executor executor)
        : port{server.make_port(asio::make_strand(executor), count)} {
        port->start(events);
    }
    ~port_user() { port->stop(); }

    asio::awaitable<bool> is_up() {
        return co_eventually(10s, [&] { return port->commands_up() && port->notices_up(); });
    }

    std::shared_ptr<pending> send(
        detail::script const& what,
        std::initializer_list<std::string_view> keys,
        std::initializer_list<std::string_view> args,
        std::chrono::nanoseconds timeout = 10s
    ) {
        auto answer = std::make_shared<pending>();
        events.inside_call = true;
        port->exec(
            what,
            {keys.begin(), keys.size()},
            {args.begin(), args.size()},
            timeout,
            [answer, this](exec_result result) {
                BOOST_TEST(!events.inside_call);
                BOOST_TEST(!answer->result.has_value());
                answer->result = std::move(result);
            }
        );
        events.inside_call = false;
        return answer;
    }

    asio::awaitable<exec_result> call(
        detail::script const& what,
        std::initializer_list<std::string_view> keys,
        std::initializer_list<std::string_view> args
    ) {
        return await(send(what, keys, args));
    }

    static asio::awaitable<exec_result> await(std::shared_ptr<pending> answer) {
        auto const answered = [answer] { return answer->result.has_value(); };
        BOOST_TEST_REQUIRE(co_await co_eventually(15s, answered));
        co_return *answer->result;
    }

    // GCC 12 cannot build the array of a braced list inside an awaited expression: the lists stay
    // here.
    asio::awaitable<exec_result> acquire(
        std::string_view holder,
        std::string_view key = "k",
        std::string_view lease_ms = "60000"
    ) {
        return call(
            detail::scripts::acquire,
            {key, "redisson_lock_token:{k}"},
            {lease_ms, holder, "0", "1"}
        );
    }
    asio::awaitable<exec_result> release(std::string_view holder) {
        return call(detail::scripts::release, {"k", "c"}, {holder});
    }
    asio::awaitable<exec_result> renew(std::string_view holder) {
        return call(detail::scripts::renew, {"k"}, {"90000", holder});
    }
    asio::awaitable<exec_result> inspect() {
        return call(detail::scripts::inspect, {"k", "redisson_lock_token:{k}"}, {});
    }
    asio::awaitable<exec_result> force_release(std::string_view key = "k") {
        return call(detail::scripts::force_release, {key, "c"}, {});
    }

    asio::awaitable<void> subscribe(std::string channel) {
        events.inside_call = true;
        port->subscribe(channel);
        events.inside_call = false;
        auto const confirmed = [&] { return events.has("subscribed " + channel); };
        BOOST_TEST_REQUIRE(co_await co_eventually(10s, confirmed));
    }

    std::shared_ptr<detail::counters> count = std::make_shared<detail::counters>();
    recorder events;
    std::unique_ptr<detail::redis_port> port;
};

// Runs a test body with a port that is up.
void with_port(
    maker const& which,
    std::function<asio::awaitable<void>(backend&, port_user&)> const& body
) {
    auto const server = which.make();
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        port_user user{*server, executor};
        BOOST_TEST_REQUIRE(co_await user.is_up());
        co_await body(*server, user);
    });
}

constexpr auto first = "00000000-0000-0000-0000-000000000001:1";
constexpr auto second = "00000000-0000-0000-0000-000000000002:2";

std::int64_t integer(exec_result const& result, std::size_t i) {
    BOOST_TEST((result.status == exec_status::replied));
    return result.reply.integer(i, -99);
}

}  // namespace

BOOST_DATA_TEST_CASE(comes_up_and_says_so, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend&, port_user& user) -> asio::awaitable<void> {
        BOOST_TEST(user.events.count("commands up") == 1U);
        BOOST_TEST(user.events.count("notices up") == 1U);
        BOOST_TEST(!user.port->failure());
        co_return;
    });
}

BOOST_DATA_TEST_CASE(
    a_free_lock_is_granted_with_a_growing_token,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        auto const granted = co_await user.acquire(first);
        BOOST_TEST(integer(granted, 0) == 1);
        auto const token = integer(granted, 1);
        BOOST_TEST(token > 1'000'000'000'000'000);
        BOOST_TEST(server.exists("k"));
        BOOST_TEST(server.exists("redisson_lock_token:{k}"));
        BOOST_TEST((server.pttl("k") > 30s));
        BOOST_TEST((server.pttl("k") <= 60s));

        auto const repeated = co_await user.acquire(first);
        BOOST_TEST(integer(repeated, 0) == 1);
        BOOST_TEST(integer(repeated, 1) > token);

        co_await user.release(first);
        auto const next = co_await user.acquire(second);
        BOOST_TEST(integer(next, 1) > integer(repeated, 1));
    });
}

BOOST_DATA_TEST_CASE(
    a_held_lock_is_refused_with_the_time_left,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend&, port_user& user) -> asio::awaitable<void> {
        co_await user.acquire(first);
        auto const refused = co_await user.acquire(second);
        BOOST_TEST(integer(refused, 0) == 0);
        BOOST_TEST(integer(refused, 1) > 30'000);
        BOOST_TEST(integer(refused, 1) <= 60'000);
    });
}

BOOST_DATA_TEST_CASE(a_lock_without_an_expiry_says_so, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        server.hset("k", second);
        auto const refused = co_await user.acquire(first);
        BOOST_TEST(integer(refused, 0) == 0);
        BOOST_TEST(integer(refused, 1) == -1);
        auto const seen = co_await user.inspect();
        BOOST_TEST(integer(seen, 0) == -1);
        BOOST_TEST(seen.reply.text(2) == second);
    });
}

BOOST_DATA_TEST_CASE(what_is_not_a_lock_is_left_alone, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        for (auto const* field : {"name", "mode", "a:write", "a:1:write", "a:b", ":", "1"}) {
            auto const key = std::string{"h-"} + field;
            server.hset(key, field);
            auto const refused = co_await user.acquire(first, key);
            BOOST_TEST(integer(refused, 0) == 2, field);
            auto const forced = co_await user.force_release(key);
            BOOST_TEST(integer(forced, 0) == 2, field);
            BOOST_TEST(server.exists(key), field);
        }
        server.set("k", "a text");
        std::vector<exec_result> answers;
        answers.push_back(co_await user.acquire(first));
        answers.push_back(co_await user.renew(first));
        answers.push_back(co_await user.release(first));
        answers.push_back(co_await user.inspect());
        answers.push_back(co_await user.force_release());
        for (auto const& result : answers) {
            BOOST_TEST((result.status == exec_status::failed));
            BOOST_TEST((result.error == errc::corrupt_state));
        }
        BOOST_TEST(server.exists("k"));
    });
}

BOOST_DATA_TEST_CASE(holders_of_other_kinds_are_locks, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        for (auto const* field :
             {"id:5", "id:-5", "a:b:7", "0a-0b-0c-0d-0e:3:stream", "00-1-2-3-4:12:x:y"}) {
            auto const key = std::string{"h-"} + field;
            server.hset(key, field);
            auto const refused = co_await user.acquire(first, key);
            BOOST_TEST(integer(refused, 0) == 0, field);
        }
    });
}

BOOST_DATA_TEST_CASE(only_the_holder_releases, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        co_await user.acquire(first);
        BOOST_TEST(integer(co_await user.release(second), 0) == 0);
        BOOST_TEST(server.exists("k"));
        auto const released = co_await user.release(first);
        BOOST_TEST(integer(released, 0) == 1);
        BOOST_TEST(integer(released, 1) == 1);
        BOOST_TEST(!server.exists("k"));
        BOOST_TEST(integer(co_await user.release(first), 0) == 0);
    });
}

BOOST_DATA_TEST_CASE(only_the_holder_renews, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        auto const nobody = co_await user.renew(first);
        BOOST_TEST(integer(nobody, 0) == 0);
        BOOST_TEST(integer(nobody, 1) == 0);
        BOOST_TEST(!server.exists("k"));
        co_await user.acquire(first);
        auto const other = co_await user.renew(second);
        BOOST_TEST(integer(other, 0) == 0);
        BOOST_TEST(integer(other, 1) == 1);
        BOOST_TEST((server.pttl("k") <= 60s));
        BOOST_TEST(integer(co_await user.renew(first), 0) == 1);
        BOOST_TEST((server.pttl("k") > 60s));
    });
}

BOOST_DATA_TEST_CASE(a_lock_ends_with_its_lease, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        co_await user.acquire(first, "k", "60");
        co_await sleep_for(80ms);
        BOOST_TEST(!server.exists("k"));
        BOOST_TEST(integer(co_await user.acquire(second), 0) == 1);
    });
}

BOOST_DATA_TEST_CASE(inspect_and_force_release, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        auto const nothing = co_await user.inspect();
        BOOST_TEST(integer(nothing, 0) == -2);
        BOOST_TEST(nothing.reply.values.size() == 4U);
        BOOST_TEST(nothing.reply.text(1).empty());
        BOOST_TEST(integer(co_await user.force_release(), 0) == 0);

        auto const granted = co_await user.acquire(first);
        auto const seen = co_await user.inspect();
        BOOST_TEST(integer(seen, 0) > 30'000);
        BOOST_TEST(seen.reply.text(1) == std::to_string(integer(granted, 1)));
        BOOST_TEST(seen.reply.text(2) == first);
        BOOST_TEST(seen.reply.text(3) == "1");
        co_await user.subscribe("c");
        BOOST_TEST(integer(co_await user.force_release(), 0) == 1);
        BOOST_TEST(!server.exists("k"));
        BOOST_TEST(co_await co_eventually(5s, [&] { return user.events.has("notice c"); }));
    });
}

BOOST_DATA_TEST_CASE(
    requests_are_executed_and_answered_in_order,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend&, port_user& user) -> asio::awaitable<void> {
        auto const a = user.send(detail::scripts::acquire, {"k", "t"}, {"60000", first, "0", "1"});
        auto const b = user.send(detail::scripts::acquire, {"k", "t"}, {"60000", second, "0", "1"});
        auto const c = user.send(detail::scripts::release, {"k", "c"}, {first});
        auto const d = user.send(detail::scripts::acquire, {"k", "t"}, {"60000", second, "0", "1"});
        BOOST_TEST(integer(co_await port_user::await(d), 0) == 1);
        BOOST_TEST(integer(co_await port_user::await(a), 0) == 1);
        BOOST_TEST(integer(co_await port_user::await(b), 0) == 0);
        BOOST_TEST(integer(co_await port_user::await(c), 0) == 1);
    });
}

BOOST_DATA_TEST_CASE(a_notice_arrives_after_the_confirmation, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        server.publish("c");
        co_await user.subscribe("c");
        user.port->subscribe("c");  // once is enough
        BOOST_TEST(user.count->subscriptions_now.get() == 1U);
        BOOST_TEST(server.subscriptions() == 1U);
        server.publish("c");
        server.publish("another");
        BOOST_TEST(co_await co_eventually(5s, [&] { return user.events.has("notice c"); }));

        // A release tells those who listen.
        co_await user.acquire(first);
        co_await user.release(first);
        BOOST_TEST(co_await co_eventually(5s, [&] { return user.events.count("notice c") == 2; }));
        co_await sleep_for(20ms);
        BOOST_TEST(user.events.count("notice c") == 2U);
        BOOST_TEST(user.events.count("subscribed c") == 1U);
        BOOST_TEST(!user.events.has("notice another"));

        user.port->unsubscribe("c");
        user.port->unsubscribe("never");
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.subscriptions() == 0; }));
        BOOST_TEST(user.count->subscriptions_now.get() == 0U);
        server.publish("c");
        co_await sleep_for(20ms);
        BOOST_TEST(user.events.count("notice c") == 2U);
    });
}

BOOST_DATA_TEST_CASE(
    subscribing_again_at_once_is_confirmed_anew,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        co_await user.subscribe("c");
        user.port->unsubscribe("c");
        user.port->subscribe("c");
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return user.events.count("subscribed c") == 2;
        }));
        BOOST_TEST(server.subscriptions() == 1U);
        server.publish("c");
        BOOST_TEST(co_await co_eventually(5s, [&] { return user.events.has("notice c"); }));
    });
}

BOOST_DATA_TEST_CASE(
    no_answer_in_time_is_unknown_and_may_be_executed,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        // A server that does not know the script yet answers so, and is asked again by whoever
        // still waits.
        co_await user.acquire(first);
        co_await user.release(first);
        server.pause();
        auto const answer =
            user.send(detail::scripts::acquire, {"k", "t"}, {"60000", first, "0", "1"}, 300ms);
        co_await sleep_for(50ms);
        BOOST_TEST(!answer->result.has_value());
        auto const result = co_await port_user::await(answer);
        BOOST_TEST((result.status == exec_status::unknown));
        BOOST_TEST(user.port->commands_up());
        server.resume();
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.exists("k"); }));
        // The late answer belongs to nobody else.
        BOOST_TEST(integer(co_await user.acquire(second), 0) == 0);
    });
}

BOOST_DATA_TEST_CASE(without_a_connection_nothing_is_sent, boost::unit_test::data::make(both)) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        server.break_connections();
        auto const down = [&] {
            return user.events.has("commands down") && user.events.has("notices down");
        };
        BOOST_TEST(co_await co_eventually(10s, down));
        BOOST_TEST(!user.port->commands_up());
        BOOST_TEST(!user.port->notices_up());
        auto const result = co_await user.acquire(first);
        BOOST_TEST((result.status == exec_status::not_sent));
        server.mend_connections();
        BOOST_TEST(co_await user.is_up());
        BOOST_TEST(!server.exists("k"));
        BOOST_TEST(integer(co_await user.acquire(first), 0) == 1);
        BOOST_TEST(user.events.count("commands up") == 2U);
        BOOST_TEST(user.count->reconnects.get() >= 1U);
    });
}

BOOST_DATA_TEST_CASE(
    subscriptions_come_back_with_the_connection,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        co_await user.subscribe("c");
        co_await user.subscribe("given up");
        server.break_connections();
        BOOST_TEST(co_await co_eventually(10s, [&] { return user.events.has("notices down"); }));
        user.port->unsubscribe("given up");
        user.port->subscribe("new");
        server.mend_connections();
        auto const back = [&] {
            return user.events.has("subscribed again c") && user.events.has("subscribed new");
        };
        BOOST_TEST(co_await co_eventually(10s, back));
        BOOST_TEST(!user.events.has("subscribed again given up"));
        BOOST_TEST(server.subscriptions() == 2U);
        server.publish("c");
        BOOST_TEST(co_await co_eventually(5s, [&] { return user.events.has("notice c"); }));
    });
}

BOOST_DATA_TEST_CASE(
    a_connection_that_breaks_leaves_the_answer_unknown,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        server.pause();
        auto const answer =
            user.send(detail::scripts::acquire, {"k", "t"}, {"60000", first, "0", "1"});
        co_await sleep_for(20ms);
        server.break_connections();
        auto const result = co_await port_user::await(answer);
        BOOST_TEST((result.status == exec_status::unknown));
        BOOST_TEST(user.events.has("commands down"));
    });
}

BOOST_DATA_TEST_CASE(
    stopping_answers_what_is_in_flight_and_is_silent_then,
    boost::unit_test::data::make(both)
) {
    with_port(sample, [](backend& server, port_user& user) -> asio::awaitable<void> {
        co_await user.subscribe("c");
        server.pause();
        auto const answer =
            user.send(detail::scripts::acquire, {"k", "t"}, {"60000", first, "0", "1"});
        auto const noted = user.events.noted.size();
        user.port->stop();
        BOOST_TEST(!answer->result.has_value());
        auto const result = co_await port_user::await(answer);
        BOOST_TEST((result.status == exec_status::unknown));
        server.resume();
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.subscriptions() == 0; }));
        BOOST_TEST(user.events.noted.size() == noted);
        auto const late = co_await user.acquire(first);
        BOOST_TEST((late.status == exec_status::not_sent));
        BOOST_TEST(!user.port->commands_up());
    });
}
