#include "flapping_run.hpp"

#include "plan.hpp"
#include "support/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto lease_time = 4s;
constexpr auto long_lease = 10min;
constexpr auto bound = 10s;

std::chrono::seconds duration() {
    return full_run() ? 20s : 2s;
}

}  // namespace

flapping_run::flapping_run(
    asio::any_io_executor const& executor,
    redis_server const& server,
    std::shared_ptr<report> findings,
    flapping const& how,
    int number,
    std::uint64_t at_least
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

asio::awaitable<void> flapping_run::run() {
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

std::ptrdiff_t flapping_run::growth() const {
    auto const quarter = static_cast<std::ptrdiff_t>(heap_.size() / 4);
    auto const sum = [&](std::ptrdiff_t which) {
        auto const begin = heap_.begin() + which * quarter;
        return std::accumulate(begin, begin + quarter, std::ptrdiff_t{0});
    };
    return (sum(3) - sum(1)) / std::max(quarter, std::ptrdiff_t{1});
}

config flapping_run::settings() const {
    auto made = short_leases(board_.url(), lease_time);
    made.client_name = name_;
    made.request_timeout = flapping_timeout;
    made.connect_timeout = flapping_timeout;
    made.health_check_interval = flapping_timeout;
    made.reconnect_min = 5ms;
    made.reconnect_max = 50ms;
    made.fallback_poll_interval = 1h;
    return made;
}

asio::awaitable<void> flapping_run::begin() {
    co_await client_.ready(asio::use_awaitable);
    kept_ = co_await client_.lock(name_ + "-kept").acquire(asio::use_awaitable);
    lost_ = watch(kept_);
    acquire_options const patient{.lease = long_lease};
    theirs_ = co_await rival_.lock(name_ + "-awaited").acquire(patient, asio::use_awaitable);
    turn_ = start_acquire(client_.lock(name_ + "-awaited"), {}, &theirs_);
    rivals_turn_ = start_acquire(rival_.lock(name_ + "-kept"), patient, &kept_);
    asio::co_spawn(executor_, look(), asio::detached);
    asio::co_spawn(executor_, work(), asio::detached);
}

// Where a connection takes longer than the link is up, nothing can be renewed. The link waits
// for one renewal before it is too late.
asio::awaitable<void> flapping_run::one_renewal_now_and_then() {
    auto const before = kept_.deadline();
    auto const renewed = [&] {
        return kept_.remaining() > lease_time / 2 || kept_.deadline() > before || !kept_.valid();
    };
    waits_ += renewed() ? 0U : 1U;
    bool const in_time = co_await co_eventually(bound, renewed);
    expect(in_time, violation::hang, "no renewal and no loss");
}

// Looks at the lease that is to be kept.
asio::awaitable<void> flapping_run::look() {
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
asio::awaitable<void> flapping_run::work() {
    ++running_;
    auto const lock = client_.lock(name_ + "-taken");
    std::uint64_t newest = 0;
    while (!stop_) {
        auto held = co_await lock.acquire(asio::use_awaitable);
        expect(held.valid(), violation::wrong_end, "acquire");
        expect(held.token().value > newest, violation::false_grant, "an old token");
        newest = held.token().value;
        auto const ec = co_await release(held);
        bool const known = !ec || ec == errc::release_unknown;
        expect(known, violation::wrong_end, "release: " + ec.message());
        ++taken_;
    }
    --running_;
}

asio::awaitable<void> flapping_run::finish() {
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

asio::awaitable<void> flapping_run::look_for_leftovers() {
    auto const quiet = [this] {
        auto const now = client_.stats();
        return now.waiters_now == 0 && now.leases_now == 0 && now.subscriptions_now == 0;
    };
    bool const nothing_left = co_await co_eventually(bound, quiet);
    expect(nothing_left, violation::left_behind, "something in the client");
    auto const two = [this] {
        auto const clients = probe_.client_list();
        auto const count = std::count_if(clients.begin(), clients.end(), [this](auto const& c) {
            return c.at("name").starts_with(name_ + ":");
        });
        return count == 2 && board_.proxy().active() == 2;
    };
    bool const only_two = co_await co_eventually(bound, two);
    expect(only_two, violation::left_behind, "more or less than two connections");
    auto const stats = client_.stats();
    auto const& losses = stats.losses;
    bool const no_loss = losses.expired + losses.taken + losses.deleted + losses.unreachable == 0;
    expect(no_loss, violation::wrong_end, "a lease was lost");
    // It was a link that flapped.
    bool const came_back = !how_.reconnects || stats.reconnects >= at_least_;
    expect(came_back, violation::missed, "the link did not flap");
    expect(!how_.doubts || doubts_ > 0, violation::missed, "the lease was never in doubt");
    expect(stats.renewals > 0, violation::missed, "the lease was not renewed");
}

void flapping_run::judge(lease const& held, std::string const& key) {
    auto const fields = probe_.cmd("HKEYS", key);
    auto const holder = board_.holder(key, held.token());
    bool const is_holder = fields.as_array().size() == 1 && !holder.empty() &&
                           fields.as_array().front().as_string() == holder;
    bool const valid = held.valid();
    expect(valid, violation::wrong_end, "the lease is not valid");
    expect(!valid || is_holder, violation::false_grant, "it is not the holder");
    findings_->judged();
}

void flapping_run::expect(bool holds, violation otherwise, std::string const& details) {
    if (!holds) {
        findings_->add(otherwise, std::string{how_.name}, details);
    }
}

}  // namespace holdfast::test
