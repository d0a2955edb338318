// The link breaks again and again: a lease that is renewed now and then is kept, and neither
// connections nor anything else pile up.

#include "support/background.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "wire/fault_router.hpp"
#include "wire/plan.hpp"
#include "wire/report.hpp"
#include "wire/stall_detector.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::lease_clock;
using holdfast::lease_state;

namespace {

constexpr auto lease = 4s;
constexpr auto timeout = 250ms;
constexpr auto long_lease = 10min;
constexpr auto bound = 10s;

std::chrono::seconds duration() {
    return full_run() ? 20s : 2s;
}

/// One way in which a link comes and goes.
struct flapping {
    std::string_view name;
    std::chrono::milliseconds up;
    std::chrono::milliseconds down;
    std::function<void(tcp_proxy&)> go_down;
    std::function<void(tcp_proxy&)> come_up;
    bool reconnects = true;
    bool doubts = true;  // it is down for longer than it takes to notice
};

std::array<flapping, 6> all_flappings() {
    auto const nothing = [](tcp_proxy&) {};
    auto const refuse = [](cut_kind how) {
        return [how](tcp_proxy& link) {
            link.refuse_new(true);
            link.cut(how);
        };
    };
    auto const admit = [](tcp_proxy& link) { link.refuse_new(false); };
    auto const set = [](proxy_mode mode) {
        return [mode](tcp_proxy& link) { link.set_mode(mode); };
    };
    return {{
        {"reset every 100 ms",
         100ms,
         0ms,
         [](tcp_proxy& link) { link.cut(cut_kind::rst); },
         nothing,
         true,
         false},
        {"closed every 100 ms",
         100ms,
         0ms,
         [](tcp_proxy& link) { link.cut(cut_kind::fin); },
         nothing,
         true,
         false},
        {"up for 100 ms, refused for 300 ms", 100ms, 300ms, refuse(cut_kind::rst), admit},
        {"up for 50 ms, refused for 100 ms", 50ms, 100ms, refuse(cut_kind::fin), admit},
        {"up for 100 ms, stalled for 100 ms",
         100ms,
         100ms,
         set(proxy_mode::stall()),
         set(proxy_mode::forward()),
         false,
         false},
        {"up for 200 ms, a black hole for 200 ms",
         200ms,
         200ms,
         set(proxy_mode::drop()),
         [](tcp_proxy& link) {
             link.set_mode(proxy_mode::forward());
             link.cut(cut_kind::rst);
         }},
    }};
}

std::size_t open_files() {
    std::filesystem::directory_iterator const files{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

class flapped {
public:
    flapped(
        asio::any_io_executor const& executor,
        redis_server const& server,
        std::shared_ptr<report> findings,
        flapping const& how,
        int number,
        std::uint64_t at_least = 10
    )
        : executor_{executor},
          findings_{std::move(findings)},
          how_{how},
          at_least_{at_least},
          name_{fmt::format("flap-{}", number)},
          board_{server.unix_socket()},
          probe_{server.probe()},
          client_{executor, settings()},
          rival_{executor, server.url()} {}

    asio::awaitable<void> run() {
        co_await begin();
        // A busy machine takes longer for some.
        auto const end = lease_clock::now() + duration();
        auto const enough = [&] {
            return lease_clock::now() >= end &&
                   (!how_.reconnects || client_.stats().reconnects >= at_least_);
        };
        while (!enough() && kept_.valid()) {
            how_.go_down(board_.proxy());
            co_await sleep_for(how_.down);
            how_.come_up(board_.proxy());
            co_await sleep_for(how_.up);
            co_await one_renewal_now_and_then();
            ++flaps_;
            board_.proxy().forget_closed();
            heap_.push_back(static_cast<std::ptrdiff_t>(mallinfo2().uordblks));
        }
        stop_ = true;
        co_await finish();
    }

    std::size_t flaps() const { return flaps_; }

    /// By how much more memory was in use in the last quarter than in the second.
    std::ptrdiff_t growth() const {
        auto const quarter = static_cast<std::ptrdiff_t>(heap_.size() / 4);
        auto const sum = [&](std::ptrdiff_t which) {
            auto const begin = heap_.begin() + which * quarter;
            return std::accumulate(begin, begin + quarter, std::ptrdiff_t{0});
        };
        return (sum(3) - sum(1)) / std::max(quarter, std::ptrdiff_t{1});
    }
    std::uint64_t reconnects() const { return client_.stats().reconnects; }
    std::uint64_t renewals() const { return client_.stats().renewals; }
    std::size_t doubts() const { return doubts_; }
    std::size_t waits() const { return waits_; }

private:
    holdfast::config settings() const {
        auto made = short_leases(board_.url(), lease);
        made.client_name = name_;
        made.request_timeout = timeout;
        made.connect_timeout = timeout;
        made.health_check_interval = timeout;
        made.reconnect_min = 5ms;
        made.reconnect_max = 50ms;
        made.fallback_poll_interval = 1h;
        return made;
    }

    asio::awaitable<void> begin() {
        co_await client_.ready(asio::use_awaitable);
        kept_ = co_await client_.lock(name_ + "-kept").acquire(asio::use_awaitable);
        lost_ = watch(kept_);
        holdfast::acquire_options const patient{.lease = long_lease};
        theirs_ = co_await rival_.lock(name_ + "-awaited").acquire(patient, asio::use_awaitable);
        turn_ = start_acquire(client_.lock(name_ + "-awaited"), {}, &theirs_);
        rivals_turn_ = start_acquire(rival_.lock(name_ + "-kept"), patient, &kept_);
        asio::co_spawn(executor_, look(), asio::detached);
        asio::co_spawn(executor_, work(), asio::detached);
    }

    // Where a connection takes longer than the link is up, nothing can be renewed. The link waits
    // for one renewal before it is too late.
    asio::awaitable<void> one_renewal_now_and_then() {
        auto const before = kept_.deadline();
        auto const renewed = [&] {
            return kept_.remaining() > lease / 2 || kept_.deadline() > before || !kept_.valid();
        };
        waits_ += renewed() ? 0U : 1U;
        bool const in_time = co_await co_eventually(bound, renewed);
        expect(in_time, violation::hang, "no renewal and no loss");
    }

    // Looks at the lease that is to be kept.
    asio::awaitable<void> look() {
        ++running_;
        auto before = lease_state::held;
        while (!stop_) {
            auto const now = kept_.state();
            doubts_ += before == lease_state::held && now == lease_state::in_doubt ? 1U : 0U;
            before = now;
            expect(kept_.valid(), violation::wrong_end, "the lease was lost");
            bool const two = (rivals_turn_->done && rivals_turn_->rival_was_valid) || turn_->done;
            expect(!two, violation::false_grant, "two holders");
            co_await sleep_for(1ms);
        }
        --running_;
    }

    // Takes and gives back a lock all the time.
    asio::awaitable<void> work() {
        ++running_;
        auto const lock = client_.lock(name_ + "-taken");
        std::uint64_t newest = 0;
        while (!stop_) {
            auto held = co_await lock.acquire(asio::use_awaitable);
            expect(held.valid(), violation::wrong_end, "acquire");
            expect(held.token().value > newest, violation::false_grant, "an old token");
            newest = held.token().value;
            auto const ec = co_await release(held);
            bool const known = !ec || ec == holdfast::errc::release_unknown;
            expect(known, violation::wrong_end, "release: " + ec.message());
            ++taken_;
        }
        --running_;
    }

    asio::awaitable<void> finish() {
        auto const ended = [this] { return running_ == 0; };
        bool const all_ended = co_await co_eventually(bound, ended);
        expect(all_ended, violation::hang, "an acquire or a release");
        expect(taken_ > 0, violation::hang, "nothing was done in all that time");
        expect(!lost_->told, violation::wrong_end, "the holder was told of a loss");
        auto const held = [this] { return kept_.state() == lease_state::held; };
        bool const held_again = co_await co_eventually(bound, held);
        expect(held_again, violation::not_recovered, "the lease is in doubt");
        judge(kept_, name_ + "-kept");

        auto const freed = co_await release(theirs_);
        expect(!freed, violation::wrong_end, "the rival's release");
        auto const done = [this] { return turn_->done; };
        bool const granted = co_await co_eventually(bound, done);
        expect(granted, violation::not_recovered, "the waiter does not get its lock");
        judge(turn_->held, name_ + "-awaited");

        auto const one = co_await release(kept_);
        expect(!one, violation::not_recovered, "release");
        auto const other = co_await release(turn_->held);
        expect(!other, violation::not_recovered, "release");
        auto const rivals = [this] { return rivals_turn_->done; };
        bool const handed_over = co_await co_eventually(bound, rivals);
        expect(handed_over, violation::hang, "the rival does not get its lock");
        expect(!rivals_turn_->rival_was_valid, violation::false_grant, "two valid leases");
        auto const last = co_await release(rivals_turn_->held);
        expect(!last, violation::wrong_end, "the rival's release");
        co_await look_for_leftovers();
    }

    asio::awaitable<void> look_for_leftovers() {
        auto const quiet = [this] {
            auto const now = client_.stats();
            return now.waiters_now == 0 && now.leases_now == 0 && now.subscriptions_now == 0;
        };
        bool const nothing_left = co_await co_eventually(bound, quiet);
        expect(nothing_left, violation::left_behind, "something in the client");
        auto const two = [this] {
            auto const clients = probe_.client_list();
            auto const count = std::count_if(clients.begin(), clients.end(), [this](auto const& c) {
                return c.at("name") == name_;
            });
            return count == 2 && board_.proxy().active() == 2;
        };
        bool const only_two = co_await co_eventually(bound, two);
        expect(only_two, violation::left_behind, "more or less than two connections");
        auto const stats = client_.stats();
        auto const& losses = stats.losses;
        bool const no_loss =
            losses.expired + losses.taken + losses.deleted + losses.unreachable == 0;
        expect(no_loss, violation::wrong_end, "a lease was lost");
        // It was a link that flapped.
        bool const came_back = !how_.reconnects || stats.reconnects >= at_least_;
        expect(came_back, violation::missed, "the link did not flap");
        expect(!how_.doubts || doubts_ > 0, violation::missed, "the lease was never in doubt");
        expect(stats.renewals > 0, violation::missed, "the lease was not renewed");
    }

    void judge(holdfast::lease const& held, std::string const& key) {
        auto const fields = probe_.cmd("HKEYS", key);
        auto const holder = board_.holder(key, held.token());
        bool const is_holder = fields.as_array().size() == 1 && !holder.empty() &&
                               fields.as_array().front().as_string() == holder;
        bool const valid = held.valid();
        expect(valid, violation::wrong_end, "the lease is not valid");
        expect(!valid || is_holder, violation::false_grant, "it is not the holder");
        findings_->judged();
    }

    void expect(bool holds, violation otherwise, std::string const& details) {
        if (!holds) {
            findings_->add(otherwise, std::string{how_.name}, details);
        }
    }

    asio::any_io_executor executor_;
    std::shared_ptr<report> findings_;
    flapping how_;
    std::uint64_t at_least_;  // reconnections
    std::string name_;
    fault_router board_;
    redis_probe probe_;
    holdfast::client client_;
    holdfast::client rival_;
    holdfast::lease kept_;
    holdfast::lease theirs_;
    std::shared_ptr<loss> lost_;
    std::shared_ptr<acquisition> turn_;
    std::shared_ptr<acquisition> rivals_turn_;
    std::vector<std::ptrdiff_t> heap_;  // in use after each flap
    std::size_t flaps_ = 0;
    std::size_t doubts_ = 0;
    std::size_t taken_ = 0;
    std::size_t waits_ = 0;
    int running_ = 0;
    bool stop_ = false;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_link_that_comes_and_goes) {
    auto const all = all_flappings();
    redis_server server;
    report findings;
    std::size_t flaps = 0;
    std::size_t doubts = 0;
    std::size_t waits = 0;
    std::uint64_t reconnects = 0;
    std::uint64_t renewals = 0;
    auto const files = open_files();
    auto const run_all = [&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client steady{executor, server.url()};
        stall_detector beat{executor, steady};
        std::size_t running = all.size();
        int names = 0;
        auto const run_one = [&](flapping const& how) -> asio::awaitable<void> {
            std::function<asio::awaitable<void>(std::shared_ptr<report>)> const run =
                [&](std::shared_ptr<report> found) -> asio::awaitable<void> {
                flapped one{executor, server, found, how, ++names};
                co_await one.run();
                flaps += one.flaps();
                doubts += one.doubts();
                waits += one.waits();
                reconnects += one.reconnects();
                renewals += one.renewals();
            };
            co_await until_undisturbed(findings, beat, timeout / 2, run);
        };
        for (auto const& how : all) {
            asio::co_spawn(executor, run_one(how), [&](std::exception_ptr failure) {
                BOOST_TEST(!failure);
                --running;
            });
        }
        while (running != 0) {
            co_await sleep_for(5ms);
        }
    };
    run_with_deadline(run_all, run_limit());
    BOOST_TEST(open_files() == files);
    std::cout << fmt::format(
                     "wire flaps: {} flaps, {} reconnects, {} renewals, {} times in doubt, {} "
                     "times the link waited for a renewal, {}",
                     flaps,
                     reconnects,
                     renewals,
                     doubts,
                     waits,
                     findings.summary()
                 )
              << std::endl;
    findings.check();
    BOOST_TEST(server.probe().lock_keys().empty());
}

// AddressSanitizer has memory of its own, and a look at leaks.
#ifndef HOLDFAST_TEST_SANITIZER
BOOST_AUTO_TEST_CASE(nothing_piles_up_while_a_link_flaps) {
    constexpr std::ptrdiff_t noise = 256 << 10;
    flapping const often{
        "reset every 20 ms",
        20ms,
        0ms,
        [](tcp_proxy& link) { link.cut(cut_kind::rst); },
        [](tcp_proxy&) {},
        true,
        false
    };
    redis_server server;
    auto const findings = std::make_shared<report>();
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            constexpr std::uint64_t reconnects = 100;
            flapped one{executor, server, findings, often, 0, reconnects};
            co_await one.run();
            std::cout << fmt::format(
                             "wire flaps: memory grew by {} KiB in {} flaps with {} reconnects",
                             one.growth() / 1024,
                             one.flaps(),
                             one.reconnects()
                         )
                      << std::endl;
            BOOST_TEST(one.growth() < noise);
            // One that is kept takes more than 10 KiB.
            BOOST_TEST(one.reconnects() >= reconnects);
        },
        run_limit()
    );
    findings->check();
}
#endif
