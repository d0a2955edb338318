// Releases on their way: sent again until one is answered, bounded, and told of at the end of the
// client.

#include "lease/release_queue.hpp"

#include "protocol/lock.hpp"
#include "unit/bare_client.hpp"
#include "unit/scripted_client.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_clock;
using holdfast::loss_reason;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::make_lock_target;
using holdfast::detail::pending_handler;
using holdfast::detail::release_fsm;
using holdfast::detail::release_queue;
using holdfast::detail::release_task;
using holdfast::detail::released;
using holdfast::detail::target;
using holdfast::test::bare_world;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::replied;
using holdfast::test::scripted_backend;
using holdfast::test::typed;
using holdfast::test::unanswered;

namespace {

exec_result gone() {
    return replied(0, 0);
}

struct world : bare_world {
    world() {
        queue.set_observer({
            .on_answered =
                [this](std::shared_ptr<target const> const& which, released const& what) {
                    if (what.reply && what.reply->lost == loss_reason::none) {
                        heard += which->lock;
                        heard += what.reply->notified ? " freed " : " freed in silence ";
                    }
                },
            .on_idle = [this] { heard += "idle "; },
        });
    }

    release_fsm::terms terms(bool withdrawal = false) {
        return {
            .until = lease_clock::now() + 30s,
            .timeout = 3s,
            .was_lost = false,
            .withdrawal = withdrawal
        };
    }
    release_task task(release_fsm::terms const& how) {
        return {.on = on, .id = client->make_holder_id(), .terms = how, .of = {}, .caller = {}};
    }
    template <class Told>
    void add(release_fsm::terms const& how, Told told) {
        auto what = task(how);
        what.caller = std::make_shared<pending_handler<error_code>>(told, context.get_executor());
        queue.add(std::move(what));
        run();
    }
    void add(release_fsm::terms const& how) {
        queue.add(task(how));
        run();
    }
    void add(release_fsm::terms const& how, std::optional<error_code>* told) {
        add(how, [told](error_code ec) { *told = ec; });
    }
    void wait_for_requests(std::size_t count) {
        while (server.requests.size() < count) {
            context.restart();
            BOOST_TEST_REQUIRE(context.run_one_for(10s) == 1U);
        }
    }
    void answer(exec_result const& result) {
        auto oldest = std::move(server.requests.at(0).handler);
        server.requests.pop_front();
        std::move(oldest)(result);
        run();
    }

    scripted_backend& server = client->connect();
    std::shared_ptr<target const> on = std::make_shared<target const>(make_lock_target("", "a"));
    release_queue queue{*client};
    std::string heard;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(release_queue_test)

BOOST_AUTO_TEST_CASE(a_release_is_sent_and_its_caller_told) {
    world all;
    std::optional<error_code> told;
    all.add(all.terms(), &told);
    BOOST_TEST(typed(all.server.requests.at(0).what)
                   .starts_with("lock.release 2 a redisson_lock__channel:{a} "));
    BOOST_TEST(!all.queue.idle());
    BOOST_TEST(!told.has_value());
    all.answer(freed());
    BOOST_TEST((told == error_code{}));
    BOOST_TEST(all.heard == "a freed idle ");
    BOOST_TEST(all.queue.idle());
    BOOST_TEST(!all.queue.left_behind());
    BOOST_TEST(all.client->count().releases.get() == 1U);
}

BOOST_AUTO_TEST_CASE(what_was_never_freed_is_not_announced) {
    world all;
    std::optional<error_code> told;
    all.add(all.terms(), &told);
    all.answer(gone());
    BOOST_TEST((told == errc::lease_lost));
    BOOST_TEST(all.heard == "idle ");
    BOOST_TEST(all.client->count().releases.get() == 0U);
    // A message that did not go out is announced as such.
    all.add(all.terms(), &told);
    all.answer(replied(1, 0));
    BOOST_TEST(all.heard == "idle a freed in silence idle ");
}

BOOST_AUTO_TEST_CASE(a_refusal_for_good_leaves_the_lock_behind) {
    world all;
    std::optional<error_code> told;
    all.add(all.terms(), &told);
    all.answer(failed(errc::no_permission));
    BOOST_TEST((told == errc::no_permission));
    BOOST_TEST(all.queue.idle());
    BOOST_TEST(all.queue.left_behind());
}

BOOST_AUTO_TEST_CASE(what_the_server_has_freed_by_itself_is_not_left_behind) {
    world all;
    auto over = all.terms();
    over.until = lease_clock::now();
    all.add(over);
    all.answer(failed(errc::no_permission));
    BOOST_TEST(!all.queue.left_behind());
}

BOOST_AUTO_TEST_CASE(without_an_answer_it_is_sent_again_on_the_next_connection) {
    world all;
    std::optional<error_code> told;
    all.add(all.terms(), &told);
    all.queue.on_disconnected();
    all.answer(unanswered());
    BOOST_TEST(all.server.requests.empty());
    all.queue.on_connected();
    BOOST_TEST(all.server.requests.size() == 1U);
    // The first one was executed.
    all.answer(gone());
    BOOST_TEST((told == error_code{}));
}

BOOST_AUTO_TEST_CASE(without_an_answer_it_is_sent_again_by_itself) {
    world all;
    all.add(all.terms());
    all.answer(unanswered());
    BOOST_TEST(all.server.requests.empty());
    all.context.restart();
    all.context.run_one_for(10s);
    BOOST_TEST(all.server.requests.size() == 1U);
}

BOOST_AUTO_TEST_CASE(one_that_is_added_without_a_connection_waits_for_it) {
    world all;
    all.server.commands_up = false;
    std::optional<error_code> told;
    all.add(all.terms(), &told);
    BOOST_TEST(all.server.requests.empty());
    all.server.commands_up = true;
    all.queue.on_connected();
    BOOST_TEST(all.server.requests.size() == 1U);
    all.answer(freed());
    BOOST_TEST((told == error_code{}));
}

// Without a connection a release is looked at when its lease ends.
BOOST_AUTO_TEST_CASE(those_that_are_due_together_are_looked_at_in_the_order_of_their_times) {
    auto const at_end = [](int rank, lease_clock::time_point first) { return first + rank * 1ms; };
    for (auto lead = 20ms;; lead *= 2) {
        world all;
        std::string order;
        all.server.commands_up = false;
        auto const first = lease_clock::now() + lead;
        for (int const rank : {3, 1, 2}) {
            auto how = all.terms();
            how.until = at_end(rank, first);
            all.add(how, [&order, rank](error_code) { order += std::to_string(rank); });
        }
        if (lease_clock::now() >= first) {
            continue;  // The machine was busy: some may have ended one by one.
        }
        while (lease_clock::now() < at_end(3, first)) {
            std::this_thread::sleep_for(1ms);
        }
        all.context.restart();
        all.context.run_for(10s);
        BOOST_TEST(order == "123");
        BOOST_TEST(all.heard == "idle ");
        return;
    }
}

// The next connection finds them in the same order.
BOOST_AUTO_TEST_CASE(a_new_connection_gets_first_what_would_have_ended_first) {
    world all;
    std::string order;
    all.server.commands_up = false;
    auto const now = lease_clock::now();
    for (int const rank : {3, 1, 2}) {
        auto how = all.terms();
        how.until = now + rank * 1h;
        how.timeout = 24h;
        all.add(how, [&order, rank](error_code) { order += std::to_string(rank); });
    }
    all.server.commands_up = true;
    all.queue.on_connected();
    all.wait_for_requests(3);
    for (int i = 0; i < 3; ++i) {
        all.answer(freed());
    }
    BOOST_TEST(order == "123");
}

BOOST_AUTO_TEST_CASE(many_releases_do_not_leave_in_one_burst_after_a_reconnection) {
    constexpr std::size_t many = 1'000;
    world all;
    all.server.commands_up = false;
    for (std::size_t i = 0; i < many; ++i) {
        all.queue.add(all.task(all.terms()));
    }
    all.run();
    all.server.commands_up = true;
    auto const began = lease_clock::now();
    all.queue.on_connected();
    BOOST_TEST(all.server.requests.size() == 1U);
    all.wait_for_requests(many);
    // 20 µs each.
    BOOST_TEST((lease_clock::now() - began >= 19ms));
    BOOST_TEST(all.server.requests.size() == many);
}

BOOST_AUTO_TEST_CASE(a_release_that_is_due_costs_the_same_however_many_are_not) {
    // The time that a hundred releases take whose leases end one after the other.
    auto const cost = [](int others) {
        world all;
        all.server.commands_up = false;
        auto later = all.terms();
        later.until += 1h;
        later.timeout = 1h;
        for (int i = 0; i < others; ++i) {
            all.queue.add(all.task(later));
        }
        all.run();
        auto const before = std::clock();
        for (int i = 0; i < 100; ++i) {
            bool told = false;
            auto how = all.terms();
            how.until = lease_clock::now() + 500us;
            all.add(how, [&told](error_code) { told = true; });
            while (!told) {
                all.context.restart();
                all.context.run_one_for(10s);
            }
        }
        return static_cast<double>(std::clock() - before);
    };
    auto const alone = std::max(cost(0), cost(0));
    auto const among_many = std::min(cost(20'000), cost(20'000));
    BOOST_TEST(among_many < 10 * alone);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_tells_every_caller) {
    world all;
    std::optional<error_code> first;
    std::optional<error_code> second;
    std::optional<error_code> late;
    all.add(all.terms(), &first);
    all.add(all.terms(), &second);
    all.queue.stop();
    all.add(all.terms(), &late);
    BOOST_TEST((first == errc::release_unknown));
    BOOST_TEST((second == errc::release_unknown));
    BOOST_TEST((late == errc::release_unknown));
    BOOST_TEST(all.queue.idle());
    BOOST_TEST(all.queue.left_behind());
    BOOST_TEST(all.server.requests.size() == 2U);
    // An answer that comes then is for nobody.
    all.answer(freed());
    BOOST_TEST(all.heard.empty());
}

BOOST_AUTO_TEST_CASE(withdrawals_are_bounded_and_releases_are_not_dropped_for_them) {
    world all;
    std::optional<error_code> told;
    all.add(all.terms(), &told);
    asio::post(all.context, [&] {
        for (int i = 0; i < 100'000; ++i) {
            all.queue.add(all.task(all.terms(true)));
        }
    });
    all.run();
    BOOST_TEST(!all.queue.left_behind());
    std::optional<error_code> last;
    all.add(all.terms(true), &last);
    BOOST_TEST(all.queue.left_behind());
    BOOST_TEST(!told.has_value());
    BOOST_TEST(!last.has_value());
    all.answer(freed());
    BOOST_TEST((told == error_code{}));
    BOOST_TEST(!all.queue.idle());
}

// The lock is freed without it.
BOOST_AUTO_TEST_CASE(what_may_not_be_told_of_a_hold_is_left_out) {
    world all;
    auto what = all.task(all.terms());
    what.held = {1, 50ms};
    all.queue.add(std::move(what));
    all.run();
    BOOST_TEST(typed(all.server.requests.at(0).what).ends_with(" 1 50000"));
    BOOST_TEST(all.server.requests.at(0).what.is_optional());
    all.answer(failed(errc::no_permission));
    // After a pause.
    while (all.server.requests.empty()) {
        all.context.restart();
        all.context.run_one();
    }
    BOOST_TEST(typed(all.server.requests.at(0).what).find("holdfast_hold") == std::string::npos);
    all.answer(freed());
    BOOST_TEST(all.queue.idle());
}

BOOST_AUTO_TEST_SUITE_END()
