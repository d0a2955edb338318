// What the operations rely on in a backend: one suite, for the real one on a private server and for
// the server in memory, which proves nothing unless it passes too. What the scripts answer is
// compared by the fidelity tests.

#include "protocol/call.hpp"
#include "protocol/scripts.hpp"
#include "runtime/counters.hpp"
#include "support/backend_hosts.hpp"
#include "support/run.hpp"

#include <boost/asio/strand.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace detail = holdfast::detail;
using detail::connection_id;
using detail::exec_result;
using detail::exec_status;
using holdfast::errc;
using holdfast::error_code;
using holdfast::test::co_eventually;
using holdfast::test::host;
using holdfast::test::memory_host;
using holdfast::test::real_host;
using holdfast::test::run_with_deadline;
using holdfast::test::sleep_for;
using purpose = connection_id::purpose;

namespace {

struct maker {
    char const* name;
    std::function<std::unique_ptr<host>()> make;
    friend std::ostream& operator<<(std::ostream& out, maker const& m) { return out << m.name; }
};

std::vector<maker> const both{
    {"in memory", [] { return std::make_unique<memory_host>(); }},
    {"real", [] { return std::make_unique<real_host>(); }},
};

// Notes everything that a backend has to say.
class recorder final : public detail::backend_events {
public:
    void on_up(connection_id which) override { note(name_of(which) + " up"); }
    void on_down(connection_id which) override { note(name_of(which) + " down"); }
    void on_failure(connection_id, error_code) override { note("failure"); }

    void note(std::string what) {
        BOOST_TEST(!inside_call);
        noted.push_back(std::move(what));
    }
    std::size_t count(std::string const& what) const {
        return static_cast<std::size_t>(std::count(noted.begin(), noted.end(), what));
    }
    bool has(std::string const& what) const { return count(what) != 0; }
    asio::awaitable<bool> eventually(std::string what, std::size_t times = 1) {
        return co_eventually(10s, [this, what, times] { return count(what) >= times; });
    }

    std::vector<std::string> noted;
    bool inside_call = false;

private:
    static std::string name_of(connection_id which) {
        return which.what == purpose::commands ? "commands" : "subscriptions";
    }
};

// Wants a channel, and notes what it is told.
class listener final : public detail::subscriber {
public:
    listener(detail::backend& from, std::string channel, recorder& to)
        : to_{to},
          channel_{channel} {
        to_.inside_call = true;
        held_ = from.subscribe(std::move(channel), *this);
        to_.inside_call = false;
    }

    void on_confirmed(bool again) override {
        to_.note((again ? "again " : "confirmed ") + channel_);
    }
    void on_unconfirmed() override { to_.note("unconfirmed " + channel_); }
    void on_refused(error_code) override { to_.note("refused " + channel_); }
    void on_notification(std::string_view) override { to_.note("notification " + channel_); }

private:
    recorder& to_;
    std::string channel_;
    detail::subscription held_;
};

struct pending {
    std::optional<exec_result> result;
};

constexpr auto first = "00000000-0000-0000-0000-000000000001:1";
constexpr auto second = "00000000-0000-0000-0000-000000000002:2";

detail::call acquire_by(std::string_view holder, std::chrono::nanoseconds timeout = 10s) {
    detail::call made{detail::scripts::lock_acquire, timeout};
    made.key("k").key("redisson_lock_token:{k}").arg("60000").arg(holder).arg("0");
    made.arg("1").arg("0").arg("0").arg("0").arg("0").arg("0");
    return made;
}

detail::call release_by(std::string_view holder) {
    detail::call made{detail::scripts::lock_release, 10s};
    made.key("k").key("c").arg(holder).arg("").arg("").arg("0").arg("0").arg("0").arg("0");
    return made;
}

// A backend at work. The tests run on one thread, so that its strand is theirs.
class backend_user {
public:
    backend_user(host& server, asio::any_io_executor executor)
        : to{server.make_backend(asio::make_strand(executor), count)} {
        to->start(events);
    }
    ~backend_user() { to->stop(); }

    bool up() const { return to->up(purpose::commands) && to->up(purpose::subscriptions); }
    asio::awaitable<bool> is_up() {
        return co_eventually(10s, [this] { return up(); });
    }
    asio::awaitable<bool> is_down() {
        return co_eventually(10s, [this] {
            return events.has("commands down") && events.has("subscriptions down");
        });
    }

    std::shared_ptr<pending> send(detail::call what) {
        auto answer = std::make_shared<pending>();
        events.inside_call = true;
        to->exec(std::move(what), [answer, this](exec_result result) {
            BOOST_TEST(!events.inside_call);
            BOOST_TEST(!answer->result.has_value());
            answer->result = std::move(result);
        });
        events.inside_call = false;
        return answer;
    }
    static asio::awaitable<exec_result> await(std::shared_ptr<pending> answer) {
        auto const answered = [answer] { return answer->result.has_value(); };
        BOOST_TEST_REQUIRE(co_await co_eventually(15s, answered));
        co_return *answer->result;
    }
    asio::awaitable<exec_result> acquire(std::string_view holder) {
        return await(send(acquire_by(holder)));
    }
    asio::awaitable<exec_result> release(std::string_view holder) {
        return await(send(release_by(holder)));
    }
    std::unique_ptr<listener> listen(std::string channel) {
        return std::make_unique<listener>(*to, std::move(channel), events);
    }

    std::shared_ptr<detail::counters> count = std::make_shared<detail::counters>();
    recorder events;
    std::unique_ptr<detail::backend> to;
};

// Runs a test body with a backend that is up.
void with_backend(
    maker const& which,
    std::function<asio::awaitable<void>(host&, backend_user&)> const& body
) {
    auto const server = which.make();
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        backend_user user{*server, executor};
        BOOST_TEST_REQUIRE(co_await user.is_up());
        co_await body(*server, user);
    });
}

std::int64_t integer(exec_result const& result, std::size_t i) {
    BOOST_TEST((result.status == exec_status::replied));
    return result.reply.integer(i, -99);
}

}  // namespace

#define HOLDFAST_FOR_BOTH(name) BOOST_DATA_TEST_CASE(name, boost::unit_test::data::make(both))

HOLDFAST_FOR_BOTH(comes_up_and_says_so) {
    with_backend(sample, [](host&, backend_user& user) -> asio::awaitable<void> {
        BOOST_TEST(user.events.count("commands up") == 1U);
        BOOST_TEST(user.events.count("subscriptions up") == 1U);
        BOOST_TEST(!user.to->why_down().cause);
        co_return;
    });
}

HOLDFAST_FOR_BOTH(requests_are_executed_and_answered_in_order) {
    with_backend(sample, [](host&, backend_user& user) -> asio::awaitable<void> {
        auto const a = user.send(acquire_by(first));
        auto const b = user.send(acquire_by(second));
        auto const c = user.send(release_by(first));
        auto const d = user.send(acquire_by(second));
        BOOST_TEST(integer(co_await backend_user::await(d), 0) == 1);
        BOOST_TEST(a->result.has_value());
        BOOST_TEST(integer(co_await backend_user::await(a), 0) == 1);
        BOOST_TEST(integer(co_await backend_user::await(b), 0) == 0);
        BOOST_TEST(integer(co_await backend_user::await(c), 0) == 1);
    });
}

HOLDFAST_FOR_BOTH(a_foreign_value_is_an_error_that_somebody_has_to_mend) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        server.set("k", "a text");
        auto const refused = co_await user.acquire(first);
        BOOST_TEST((refused.status == exec_status::failed));
        BOOST_TEST(refused.error.message() == make_error_code(errc::corrupt_state).message());
    });
}

HOLDFAST_FOR_BOTH(a_notification_arrives_after_the_confirmation) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        server.publish("c");
        auto listening = user.listen("c");
        BOOST_TEST(co_await user.events.eventually("confirmed c"));
        // The server is asked once, but both are told.
        auto another = user.listen("c");
        BOOST_TEST(co_await user.events.eventually("confirmed c", 2));
        BOOST_TEST(user.count->subscriptions_now.get() == 1U);
        BOOST_TEST(server.subscriptions() == 1U);
        another.reset();
        server.publish("c");
        server.publish("another");
        BOOST_TEST(co_await user.events.eventually("notification c"));

        // A release tells those who listen.
        co_await user.acquire(first);
        co_await user.release(first);
        BOOST_TEST(co_await user.events.eventually("notification c", 2));
        co_await sleep_for(20ms);
        BOOST_TEST(user.events.count("notification c") == 2U);

        listening.reset();
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.subscriptions() == 0; }));
        BOOST_TEST(user.count->subscriptions_now.get() == 0U);
        server.publish("c");
        co_await sleep_for(20ms);
        BOOST_TEST(user.events.count("notification c") == 2U);
    });
}

HOLDFAST_FOR_BOTH(a_notification_that_arrives_with_the_confirmation_comes_after_it) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        // The server knows the scripts from here on.
        co_await user.acquire(first);
        co_await user.release(first);
        co_await user.acquire(first);
        server.pause();
        auto const listening = user.listen("c");
        co_await sleep_for(50ms);
        auto const released = user.send(release_by(first));
        co_await sleep_for(50ms);
        server.resume();
        BOOST_TEST(co_await user.events.eventually("notification c"));
        auto const& noted = user.events.noted;
        auto const confirmed = std::find(noted.begin(), noted.end(), "confirmed c");
        BOOST_TEST((confirmed < std::find(noted.begin(), noted.end(), "notification c")));
    });
}

HOLDFAST_FOR_BOTH(subscribing_again_at_once_is_confirmed_anew) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        auto listening = user.listen("c");
        BOOST_TEST(co_await user.events.eventually("confirmed c"));
        listening.reset();
        listening = user.listen("c");
        BOOST_TEST(co_await user.events.eventually("confirmed c", 2));
        BOOST_TEST(server.subscriptions() == 1U);
        server.publish("c");
        BOOST_TEST(co_await user.events.eventually("notification c"));
    });
}

HOLDFAST_FOR_BOTH(no_answer_in_time_is_unknown_and_may_be_executed) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        // A server that does not know the script yet answers so, and is asked again by whoever
        // still waits.
        co_await user.acquire(first);
        co_await user.release(first);
        server.pause();
        auto const answer = user.send(acquire_by(first, 300ms));
        co_await sleep_for(50ms);
        BOOST_TEST(!answer->result.has_value());
        auto const result = co_await backend_user::await(answer);
        BOOST_TEST((result.status == exec_status::unknown));
        BOOST_TEST(user.to->up(purpose::commands));
        server.resume();
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.exists("k"); }));
        // The late answer belongs to nobody else.
        BOOST_TEST(integer(co_await user.acquire(second), 0) == 0);
    });
}

HOLDFAST_FOR_BOTH(without_a_connection_nothing_is_sent) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        server.break_connections();
        BOOST_TEST(co_await user.is_down());
        BOOST_TEST(!user.to->up(purpose::commands));
        BOOST_TEST(!user.to->up(purpose::subscriptions));
        auto const result = co_await user.acquire(first);
        BOOST_TEST((result.status == exec_status::not_sent));
        BOOST_TEST(co_await co_eventually(10s, [&] { return user.to->why_down().cause.failed(); }));
        server.mend_connections();
        BOOST_TEST(co_await user.is_up());
        BOOST_TEST(!server.exists("k"));
        BOOST_TEST(integer(co_await user.acquire(first), 0) == 1);
        BOOST_TEST(user.events.count("commands up") == 2U);
        BOOST_TEST(user.count->reconnects.get() >= 1U);
    });
}

HOLDFAST_FOR_BOTH(subscriptions_come_back_with_the_connection) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        auto const kept = user.listen("c");
        auto given_up = user.listen("given up");
        BOOST_TEST(co_await user.events.eventually("confirmed given up"));
        server.break_connections();
        BOOST_TEST(co_await user.events.eventually("unconfirmed c"));
        given_up.reset();
        auto const made = user.listen("new");
        server.mend_connections();
        BOOST_TEST(co_await user.events.eventually("again c"));
        BOOST_TEST(co_await user.events.eventually("confirmed new"));
        BOOST_TEST(!user.events.has("again given up"));
        BOOST_TEST(server.subscriptions() == 2U);
        server.publish("c");
        BOOST_TEST(co_await user.events.eventually("notification c"));
    });
}

HOLDFAST_FOR_BOTH(a_connection_that_breaks_leaves_the_answer_unknown) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        server.pause();
        auto const answer = user.send(acquire_by(first));
        co_await sleep_for(20ms);
        server.break_connections();
        auto const result = co_await backend_user::await(answer);
        BOOST_TEST((result.status == exec_status::unknown));
        BOOST_TEST(co_await user.events.eventually("commands down"));
    });
}

HOLDFAST_FOR_BOTH(stopping_answers_what_is_in_flight_and_is_silent_then) {
    with_backend(sample, [](host& server, backend_user& user) -> asio::awaitable<void> {
        auto const listening = user.listen("c");
        BOOST_TEST(co_await user.events.eventually("confirmed c"));
        server.pause();
        auto const answer = user.send(acquire_by(first));
        auto const noted = user.events.noted.size();
        user.to->stop();
        BOOST_TEST(!answer->result.has_value());
        auto const result = co_await backend_user::await(answer);
        BOOST_TEST((result.status == exec_status::unknown));
        server.resume();
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.subscriptions() == 0; }));
        BOOST_TEST(user.events.noted.size() == noted);
        auto const late = co_await user.acquire(first);
        BOOST_TEST((late.status == exec_status::not_sent));
        BOOST_TEST(!user.to->up(purpose::commands));
    });
}
