// A connection swallows what goes one way, for its own rest or for as long as the fault lasts: the
// holder is told in time, the waiter gets its lock in the end, and never do two hold one.

#include "support/background.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "wire/fault_router.hpp"
#include "wire/plan.hpp"
#include "wire/report.hpp"
#include "wire/stall_detector.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::loss_reason;

namespace {

// A third of it is `loss_margin`: that long a busy machine has to tell the holder.
constexpr auto lease = 3s;
constexpr auto timeout = 250ms;

// The rival's: no waiter can live to see its end.
constexpr auto long_lease = 10min;

// For what takes no more than some time-outs and connections.
constexpr auto bound = 10s;

struct black_hole {
    link_kind where;
    direction way;
    bool lasts;     // new connections fall into it, too
    bool fallback;  // a waiter without notifications looks by itself
    std::chrono::milliseconds begins_after;

    std::string describe() const {
        return fmt::format(
            "{} on the {} connection{}{}, {} ms after the grant",
            way == direction::to_server ? "requests" : "replies",
            where == link_kind::commands ? "command" : "notification",
            lasts ? "s" : "",
            fallback ? ", with a fallback" : "",
            begins_after.count()
        );
    }
};

std::vector<black_hole> all_holes() {
    std::mt19937 random{run_seed()};
    std::vector<black_hole> holes;
    for (int repeat = 0; repeat < (full_run() ? 8 : 1); ++repeat) {
        for (auto const where : {link_kind::commands, link_kind::notifications}) {
            for (auto const way : {direction::to_server, direction::to_client}) {
                for (bool const lasts : {false, true}) {
                    for (bool const fallback : {false, true}) {
                        // Two renewals come in that time.
                        std::chrono::milliseconds const after{random() % 2000};
                        holes.push_back({where, way, lasts, fallback, after});
                    }
                }
            }
        }
    }
    return holes;
}

class swallowed {
public:
    swallowed(
        asio::any_io_executor const& executor,
        redis_server const& server,
        std::shared_ptr<report> findings,
        black_hole const& hole,
        std::string const& name
    )
        : findings_{std::move(findings)},
          hole_{hole},
          held_name_{name + "-held"},
          awaited_name_{name + "-awaited"},
          board_{server.unix_socket()},
          probe_{server.probe()},
          client_{executor, settings()},
          rival_{executor, server.url()} {}

    asio::awaitable<void> run() {
        co_await begin();
        co_await sleep_for(hole_.begins_after);
        board_.proxy().set_mode(hole_.way, proxy_mode::drop(), which());
        auto const freed = co_await release(theirs_);
        expect(!freed, violation::wrong_end, "the rival's release");
        auto const healed_at = co_await endure();
        board_.proxy().set_mode(proxy_mode::forward());
        co_await get_well(healed_at);
        co_await leave();
    }

private:
    holdfast::config settings() const {
        auto made = short_leases(board_.url(), lease);
        made.request_timeout = timeout;
        made.connect_timeout = timeout;
        made.health_check_interval = timeout;
        made.reconnect_min = 5ms;
        made.reconnect_max = 100ms;
        // A grant without an answer is what these cases look for.
        made.confirm_grants = true;
        made.fallback_poll_interval = hole_.fallback ? 300ms : std::chrono::milliseconds{1h};
        return made;
    }

    connection_selector which() {
        bool const commands = hole_.where == link_kind::commands;
        if (hole_.lasts) {
            return commands ? connections_that_sent("TIME")
                            : connections_that_sent("SETNAME", "TIME");
        }
        return connection_number(board_.connection("holdfast", hole_.where));
    }

    // The client has one lock and waits for another, and its rival the other way round.
    asio::awaitable<void> begin() {
        mine_ = co_await client_.lock(held_name_).acquire(asio::use_awaitable);
        lost_ = watch(mine_);
        holdfast::acquire_options const patient{.lease = long_lease};
        theirs_ = co_await rival_.lock(awaited_name_).acquire(patient, asio::use_awaitable);
        rivals_turn_ = start_acquire(rival_.lock(held_name_), patient, &mine_);
        turn_ = start_acquire(client_.lock(awaited_name_), {}, &theirs_);
        // The second refusal follows the confirmation.
        auto const waits = [this] { return client_.stats().refusals >= 2; };
        bool const waiting = co_await co_eventually(bound, waits);
        expect(waiting, violation::hang, "the waiter does not wait");
    }

    // What has to happen while the fault lasts. Returns when it is over.
    asio::awaitable<lease_clock::time_point> endure() {
        bool const commands_are_lost = hole_.where == link_kind::commands && hole_.lasts;
        if (commands_are_lost) {
            co_await lose();
        } else {
            co_await keep();
        }
        co_return lease_clock::now();
    }

    asio::awaitable<void> lose() {
        auto const doubted = [this] { return mine_.state() == lease_state::in_doubt; };
        bool const in_doubt = co_await co_eventually(bound, doubted);
        expect(in_doubt, violation::wrong_end, "no doubt");
        auto const told = [this] { return lost_->told; };
        bool const was_told = co_await co_eventually(bound, told);
        expect(was_told, violation::hang, "the holder was not told");
        // Deadlines move no more.
        expect(lost_->at < mine_.deadline(), violation::wrong_end, "the holder was told too late");
        expect(lost_->reason == loss_reason::unreachable, violation::wrong_end, "another reason");
        auto const done = [this] { return rivals_turn_->done; };
        bool const granted = co_await co_eventually(lease + bound, done);
        expect(granted, violation::hang, "the rival does not get the lost lock");
        expect(!rivals_turn_->rival_was_valid, violation::false_grant, "two valid leases");
        bool const in_order = rivals_turn_->held.token() > mine_.token();
        expect(in_order, violation::false_grant, "the rival's token is not greater");
        expect(!turn_->done, violation::false_grant, "granted without an answer");
    }

    // Long enough for a lease that is not renewed to be lost.
    asio::awaitable<void> keep() {
        auto const end = lease_clock::now() + lease;
        while (lease_clock::now() < end) {
            co_await sleep_for(20ms);
            expect(mine_.valid() && !lost_->told, violation::wrong_end, "the lease was lost");
            bool const two = rivals_turn_->done && rivals_turn_->rival_was_valid;
            expect(!two, violation::false_grant, "two valid leases");
        }
        // Here nothing but the way back of notifications can keep the waiter from its lock.
        bool const subscriptions_are_lost = hole_.where == link_kind::notifications &&
                                            hole_.lasts && hole_.way == direction::to_client;
        if (!subscriptions_are_lost || hole_.fallback) {
            auto const done = [this] { return turn_->done; };
            bool const granted = co_await co_eventually(bound, done);
            expect(granted, violation::hang, "the waiter does not get its lock");
        } else {
            expect(!turn_->done, violation::missed, "the notification came");
        }
    }

    asio::awaitable<void> get_well(lease_clock::time_point healed_at) {
        auto const done = [this] { return turn_->done; };
        bool const granted = co_await co_eventually(bound, done);
        expect(granted, violation::not_recovered, "the waiter does not get its lock");
        findings_->took(std::max(turn_->at - healed_at, lease_clock::duration{0}), where());
        expect(!turn_->error, violation::wrong_end, turn_->error.message());
        expect(!turn_->rival_was_valid, violation::false_grant, "two valid leases");
        judge(turn_->held, awaited_name_);
        bool const lost = lost_->told;
        auto const end = co_await release(mine_);
        bool const as_told = lost ? end == errc::lease_lost : !end;
        expect(as_told, violation::wrong_end, "release: " + end.message());
        auto const rivals = [this] { return rivals_turn_->done; };
        bool const handed_over = co_await co_eventually(bound, rivals);
        expect(handed_over, violation::hang, "the rival does not get its lock");
        expect(!rivals_turn_->rival_was_valid, violation::false_grant, "two valid leases");
        // The release of a lost lease took nothing from anybody.
        expect(rivals_turn_->held.valid(), violation::wrong_end, "the rival's lease is not valid");
    }

    // Nothing is left, and both connections are of use.
    asio::awaitable<void> leave() {
        auto const mine = co_await release(turn_->held);
        expect(!mine, violation::wrong_end, "release");
        auto const theirs = co_await release(rivals_turn_->held);
        expect(!theirs, violation::wrong_end, "the rival's release");
        auto const gone = [this] {
            return !probe_.exists(held_name_) && !probe_.exists(awaited_name_);
        };
        bool const all_gone = co_await co_eventually(bound, gone);
        expect(all_gone, violation::left_behind, "a lock on the server");
        co_await client_.ready(asio::use_awaitable);
        auto again = co_await client_.lock(held_name_).acquire(asio::use_awaitable);
        judge(again, held_name_);
        auto const released = co_await release(again);
        expect(!released, violation::not_recovered, "release");
        auto const quiet = [this] {
            auto const now = client_.stats();
            return now.waiters_now == 0 && now.leases_now == 0 && now.subscriptions_now == 0;
        };
        bool const nothing_left = co_await co_eventually(bound, quiet);
        expect(nothing_left, violation::left_behind, "something in the client");
        auto const two = [this] { return board_.proxy().in_use() == 2U; };
        bool const nothing_open = co_await co_eventually(bound, two);
        expect(nothing_open, violation::left_behind, "a connection");
    }

    void judge(holdfast::lease const& held, std::string const& name) {
        auto const fields = probe_.cmd("HKEYS", name);
        auto const holder = board_.holder(name, held.token());
        bool const is_holder = fields.as_array().size() == 1 && !holder.empty() &&
                               fields.as_array().front().as_string() == holder;
        bool const valid = held.valid();
        expect(valid, violation::wrong_end, "the lease is not valid");
        expect(!valid || is_holder, violation::false_grant, "it is not the holder");
        findings_->judged();
    }

    void expect(bool holds, violation otherwise, std::string const& details) {
        if (!holds) {
            findings_->add(otherwise, where(), details);
        }
    }

    std::string where() const { return hole_.describe(); }

    std::shared_ptr<report> findings_;
    black_hole hole_;
    std::string held_name_;
    std::string awaited_name_;
    fault_router board_;
    redis_probe probe_;
    holdfast::client client_;
    holdfast::client rival_;
    holdfast::lease mine_;
    holdfast::lease theirs_;
    std::shared_ptr<loss> lost_;
    std::shared_ptr<acquisition> turn_;
    std::shared_ptr<acquisition> rivals_turn_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(one_way_is_a_black_hole) {
    constexpr std::size_t at_a_time = 64;
    auto const holes = all_holes();
    redis_server server;
    report findings;
    auto const run_all = [&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client steady{executor, server.url()};
        stall_detector beat{executor, steady};
        std::size_t next = 0;
        std::size_t running = std::min(at_a_time, holes.size());
        int names = 0;
        auto const lane = [&]() -> asio::awaitable<void> {
            while (next < holes.size()) {
                auto const& hole = holes[next++];
                std::function<asio::awaitable<void>(std::shared_ptr<report>)> const run =
                    [&](std::shared_ptr<report> found) -> asio::awaitable<void> {
                    auto const name = "hole-" + std::to_string(++names);
                    swallowed one{executor, server, found, hole, name};
                    co_await one.run();
                };
                co_await until_undisturbed(findings, beat, timeout / 2, run);
            }
        };
        for (std::size_t i = running; i > 0; --i) {
            asio::co_spawn(executor, lane, [&](std::exception_ptr failure) {
                BOOST_TEST(!failure);
                --running;
            });
        }
        while (running != 0) {
            co_await sleep_for(5ms);
        }
    };
    run_with_deadline(run_all, run_limit());
    std::cout << fmt::format("wire black holes: {} holes, {}", holes.size(), findings.summary())
              << std::endl;
    findings.check();
    BOOST_TEST(server.probe().lock_keys().empty());
}
