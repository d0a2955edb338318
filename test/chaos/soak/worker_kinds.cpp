// Workers of cells whose workers share something else than locks of one server.

#include "soak/account.hpp"
#include "soak/lock_worker.hpp"
#include "soak/settings.hpp"
#include "soak/worker.hpp"

#include <holdfast/election.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/quorum_lock.hpp>
#include <holdfast/semaphore.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::soak {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto awaited = asio::use_awaitable;

template <class Lease>
auto give_back(Lease& held) {
    return held.release(asio::deferred);
}
auto give_back(leadership& held) {
    return held.resign(asio::deferred);
}

/// Asks, uses and gives back, in the same way whatever kind of lease it is.
class kind_worker : public worker {
public:
    using worker::worker;

protected:
    /// One turn, all of it drawn beforehand.
    struct plan {
        char const* way = "acquire";
        nanos limit{-1};
        nanos hold{0};
        bool guarded = true;  // uses a resource that wants to see the token
        bool drops = false;   // leaves the release to the destructor
    };

    account open(plan const& p, std::int64_t number, std::int64_t permits = 0) {
        account a{where_.history, where_.process, ++where_.last_op, number};
        a.invoke(p.way, p.limit < 0ns ? unlimited : p.limit.count(), 0, permits);
        return a;
    }

    template <class Lease>
    asio::awaitable<bool> take(plan p, account a, Lease held, error_code ec) {
        if (!held) {
            if (!ec) {
                a.no_lease("busy");
            } else {
                a.failed(ec);
            }
            co_return false;
        }
        a.granted(held);
        co_await use(p, a, held);
        a.releasing(held);
        if (p.drops) {
            held = Lease{};
            co_return true;
        }
        auto released = give_back(held);
        co_await std::move(released)(asio::redirect_error(awaited, ec));
        a.released(ec);
        co_return true;
    }

private:
    template <class Lease>
    asio::awaitable<void> use(plan const& p, account& a, Lease& held) {
        access const by{.lock = a.lock(), .token = a.token(), .process = a.process(), .op = a.op()};
        store::view seen;
        if (p.guarded) {
            seen = co_await resource_.read(by);
        }
        auto const end = now() + p.hold.count();
        for (;;) {
            a.look(held);
            a.find_out(held);
            auto const left = nanos{end - now()};
            if (left <= 0ns || where_.closing || !held.valid()) {
                break;
            }
            co_await sleep_for(std::min<nanos>(left, look_interval));
        }
        if (p.guarded && held.valid()) {
            co_await resource_.write(by, seen);
        }
        a.look(held);
        a.find_out(held);
    }
};

/// Takes one permit, or two, or five together. Some hold theirs past several renewals.
class permit_worker final : public kind_worker {
public:
    permit_worker(workplace& where, asio::any_io_executor executor, int number, std::uint64_t seed)
        : kind_worker{where, std::move(executor), seed},
          number_{number} {}

private:
    asio::awaitable<bool> take_turn(bool last) override {
        auto const count = permits(last);
        auto const pool = where_.locks().semaphore("{}", 0).limit(permits_limit).permits(count);
        plan p{.guarded = false};
        if (!last && one_in(4)) {
            p.way = "limited";
            p.limit = draw_ms(1, 300);
        }
        p.hold = number_ == 1 ? draw_ms(50, 2500) : draw_ms(1, 10);
        p.drops = !last && one_in(10);
        auto const a = open(p, 0, count);
        error_code ec;
        lease held;
        if (p.limit < 0ns) {
            auto asked = pool.acquire(asio::deferred);
            held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
        } else {
            auto asked = pool.try_acquire_for(p.limit, asio::deferred);
            held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
        }
        co_return co_await take(p, a, std::move(held), ec);
    }

    // In the end one of them wants all that there are: none may be missing.
    [[nodiscard]] std::int64_t permits(bool last) const {
        if (number_ == 0) {
            return last ? permits_limit : permits_limit / 2;
        }
        return number_ % 7 == 0 ? 2 : 1;
    }

    int number_;
};

/// Wants to lead. Some leaders lead past several renewals, so that observers have to see them.
class candidate final : public kind_worker {
public:
    using kind_worker::kind_worker;

private:
    asio::awaitable<bool> take_turn(bool last) override {
        auto const election = where_.locks().election("{}", 0);
        plan p{.way = "campaign"};
        p.hold = one_in(3) ? draw_ms(0, 200) : draw_ms(1200, 2500);
        p.drops = !last && one_in(5);
        auto const a = open(p, 0);
        error_code ec;
        auto const value = std::to_string(where_.process);
        auto asked = election.campaign(value, asio::deferred);
        auto leads = co_await std::move(asked)(asio::redirect_error(awaited, ec));
        co_return co_await take(p, a, std::move(leads), ec);
    }
};

/// Takes a lock that stands on several servers. One of the two locks is held for long.
class quorum_worker final : public kind_worker {
public:
    quorum_worker(workplace& where, asio::any_io_executor executor, int number, std::uint64_t seed)
        : kind_worker{where, std::move(executor), seed},
          lock_{number == 0 ? 1 : 0} {}

private:
    asio::awaitable<bool> take_turn(bool last) override {
        std::vector<holdfast::lock> nodes;
        for (auto const& each : where_.nodes) {
            nodes.push_back(each.lock("{}", lock_));
        }
        quorum_lock const lock{nodes};
        plan p;
        if (!last && one_in(2)) {
            bool const once = one_in(4);
            p.way = once ? "tried" : "limited";
            p.limit = once ? lease_time / 6 : 2'000ms;
        }
        p.hold = lock_ == 0 ? draw_ms(1, 4) : draw_ms(50, 1500);
        auto const a = open(p, lock_);
        error_code ec;
        quorum_lease held;
        if (p.limit < 0ns) {
            auto asked = lock.acquire(asio::deferred);
            held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
        } else if (p.way == std::string_view{"tried"}) {
            auto asked = lock.try_acquire(asio::deferred);
            held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
        } else {
            auto asked = lock.try_acquire_for(p.limit, asio::deferred);
            held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
        }
        co_return co_await take(p, a, std::move(held), ec);
    }

    std::int64_t lock_;
};

/// Holds two locks together, named in any order, as one who moves money between accounts does; now
/// and then all there are, as an audit does.
class clerk final : public kind_worker {
public:
    using kind_worker::kind_worker;

private:
    asio::awaitable<bool> take_turn(bool last) override {
        std::deque<account> accounts;
        std::vector<multi_lock::member> members;
        plan const p{.way = "together", .hold = draw_ms(0, 2), .drops = !last && one_in(10)};
        auto const first = draw(all_locks);
        auto const others = !last && one_in(50) ? all_locks - 1 : 1;
        auto const skipped = others == 1 ? draw(all_locks - 1) : 0;
        for (std::int64_t i = 0; i <= others; ++i) {
            auto const which = (first + i + (i > 0 ? skipped : 0)) % all_locks;
            members.emplace_back(where_.locks().lock("{}", which));
            accounts.push_back(open(p, which));
        }
        multi_lock const all{members};
        error_code ec;
        auto asked = all.acquire(asio::deferred);
        auto held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
        for (std::size_t i = 0; i < accounts.size() && held; ++i) {
            auto mine = view_of(held);
            mine.token = static_cast<std::int64_t>(held.token(i).value);
            accounts[i].granted(mine);
        }
        if (!held) {
            for (auto const& each : accounts) {
                each.failed(ec);
            }
            co_return false;
        }
        co_await move_money(p, accounts, held);
        for (auto const& each : accounts) {
            each.releasing(held);
        }
        if (p.drops) {
            held = multi_lease{};
            co_return true;
        }
        auto released = give_back(held);
        co_await std::move(released)(asio::redirect_error(awaited, ec));
        for (auto const& each : accounts) {
            each.released(ec);
        }
        co_return true;
    }

    asio::awaitable<void> move_money(
        plan const& p,
        std::deque<account>& accounts,
        multi_lease& held
    ) {
        std::vector<store::view> seen;
        for (auto const& each : accounts) {
            auto read = resource_.read(access_of(each));
            seen.push_back(co_await std::move(read));
        }
        co_await sleep_for(p.hold);
        for (std::size_t i = 0; i < accounts.size() && held.valid(); ++i) {
            auto write = resource_.write(access_of(accounts[i]), seen[i]);
            co_await std::move(write);
        }
        for (auto& each : accounts) {
            each.look(held);
            each.find_out(held);
        }
    }

    static access access_of(account const& of) {
        return {.lock = of.lock(), .token = of.token(), .process = of.process(), .op = of.op()};
    }
};

std::int64_t number_in(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

std::unique_ptr<worker> make_worker(
    workload what,
    workplace& where,
    asio::any_io_executor executor,
    int number,
    std::uint64_t seed
) {
    switch (what) {
        case workload::permits:
            return std::make_unique<permit_worker>(where, std::move(executor), number, seed);
        case workload::leaders:
            return std::make_unique<candidate>(where, std::move(executor), seed);
        case workload::quorum:
            return std::make_unique<quorum_worker>(where, std::move(executor), number, seed);
        case workload::pairs: return std::make_unique<clerk>(where, std::move(executor), seed);
        case workload::locks: break;
    }
    bool const patient = number < patient_coroutines;
    return std::make_unique<lock_worker>(where, std::move(executor), patient, seed);
}

asio::awaitable<void> observe_leaders(workplace& where) {
    co_await asio::this_coro::throw_if_cancelled(false);
    auto observer = where.locks().election("{}", 0).observe();
    event const of{.process = where.process, .op = ++where.last_op, .lock = 0};
    auto begun = of;
    begun.at = now();
    begun.what = happening::observes;
    where.history.add(begun);
    asio::steady_timer timer{co_await asio::this_coro::executor};
    while ((co_await asio::this_coro::cancellation_state).cancelled() ==
           asio::cancellation_type::none) {
        error_code ec;
        auto next = observer.next(asio::deferred);
        auto const leader = co_await std::move(next)(asio::redirect_error(awaited, ec));
        if (ec) {
            // A right may be missing for a while.
            timer.expires_after(10ms);
            co_await timer.async_wait(asio::redirect_error(awaited, ec));
        } else if (leader) {
            auto seen = of;
            seen.at = now();
            seen.what = happening::observed;
            seen.token = static_cast<std::int64_t>(leader.term.value);
            seen.owner = number_in(leader.value);
            where.history.add(seen);
        }
    }
}

}  // namespace holdfast::soak
