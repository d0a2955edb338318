#ifndef HOLDFAST_TEST_SIMULATION_USER_HPP
#define HOLDFAST_TEST_SIMULATION_USER_HPP

#include "simulation/call.hpp"
#include "simulation/node.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/owner.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sim {

inline constexpr auto awaited = asio::as_tuple(asio::deferred);

/// `config::max_waiters` is below that where a schedule limits it.
inline constexpr std::size_t most_users = 1'000;

/// When and how an operation is cancelled.
struct cancellation {
    nanos after;
    asio::cancellation_type type;
};

/// One acquisition, as a user asks for it.
struct request {
    enum class kind { acquire, one_try, limited };

    std::string lock;
    /// Of a semaphore.
    std::int64_t permits = 1;
    /// Of a semaphore: how many permits the user says there are. Zero: the user does not say it.
    std::int64_t stated = 0;
    kind how = kind::acquire;
    nanos limit{0};
    acquire_options options{};
    std::optional<cancellation> cancelled{};
};

/// Calls `f` with what the client has under this name, of whichever kind it is. `stated`: how many
/// permits a semaphore has, or zero.
template <class Client, class F>
decltype(auto) with_lock_of(
    Client& client,
    std::string const& name,
    std::int64_t permits,
    std::int64_t stated,
    F f
) {
    if (is_read_write(name)) {
        auto const both = client.read_write_lock(without_prefix(lock_of(name)));
        return is_reader(name) ? f(both.read()) : f(both.write());
    }
    auto const called = without_prefix(name);
    if (is_pool(name)) {
        auto const pool = client.semaphore(called).permits(permits);
        return f(stated > 0 ? pool.limit(stated) : pool);
    }
    return is_fair(name) ? f(client.fair_lock(called)) : f(client.lock(called));
}

/// For the trace: what is done to the lock whose name follows.
[[nodiscard]] std::string describe(request::kind how);

/// Begins an acquisition of a lock of any kind.
template <class Lock, class Call>
void begin(Lock const& on, request const& what, Call& asked) {
    asked.initiating = true;
    switch (what.how) {
        case request::kind::acquire: on.acquire(what.options, asked.token()); break;
        case request::kind::one_try: on.try_acquire(what.options, asked.token()); break;
        case request::kind::limited:
            on.try_acquire_for(what.limit, what.options, asked.token());
            break;
    }
    asked.initiating = false;
}

/// So many coroutines of this process, each on a lane of its own. They share two owners.
template <class User>
void start_users(node& in, int users, int operations) {
    using owners = typename User::owners;
    auto const who = std::make_shared<owners const>(owners{owner::make(), owner::make()});
    for (int i = 0; i < users; ++i) {
        auto& on = in.add_user();
        auto const made = std::make_shared<User>(in, on, i, operations, who);
        asio::co_spawn(in.of().executor_of(on), User::run(made), asio::detached);
    }
}

/// A coroutine on a lane of its own that uses locks. What it is answered is judged here: by itself,
/// and by the oracle.
class user : public std::enable_shared_from_this<user> {
public:
    user(node& in, lane& on, int number);

    [[nodiscard]] lane& on() const noexcept { return lane_; }
    /// An acquisition is outstanding.
    [[nodiscard]] bool waits() const noexcept {
        auto const asked = asked_.lock();
        return asked && !asked->done;
    }
    /// Cancels it, as a handler on this user's thread does.
    void cancel(asio::cancellation_type type);

protected:
    ~user() = default;

    /// A lease that the oracle knows of, as long as it is in this coroutine's hands.
    class in_hand {
    public:
        in_hand(
            user& whose,
            std::string const& lock,
            lease const& held,
            oracle::lease_kind kind = {}
        );
        in_hand(in_hand const&) = delete;
        in_hand& operator=(in_hand const&) = delete;
        ~in_hand() { part(); }

        void part();
        oracle::belief& belief() { return *at_; }

    private:
        oracle& judge_;
        node& node_;
        oracle::belief_ref at_;
        bool parted_ = false;
    };

    [[nodiscard]] random_source& dice() { return all_.in.dice(); }
    /// Often just when something is going on.
    [[nodiscard]] std::optional<cancellation> random_cancellation(std::size_t percent);

    [[nodiscard]] asio::awaitable<void> sleep(nanos how_long);
    /// Until shortly after everything is put right, if that is not over.
    [[nodiscard]] asio::awaitable<void> wait_until_healed();
    template <class Call>
    [[nodiscard]] asio::awaitable<void> done(std::shared_ptr<Call> what) {
        while (!what->done) {
            what->wake.expires_after(std::chrono::hours{24 * 365});
            auto wait = what->wake.async_wait(awaited);
            co_await std::move(wait);
        }
    }

    /// What is promised of a lease that was asked for at `asked_at`.
    [[nodiscard]] oracle::lease_kind kind_of(request const& what, nanos asked_at) const;
    /// How long an operation waits for the answer to an attempt when its time is up.
    [[nodiscard]] nanos overtime(request const& what) const;
    /// Whether something that is or was wrong explains that a question which was asked then is
    /// answered now with "unreachable".
    [[nodiscard]] bool may_be_cut_off(nanos asked_at) const;
    /// The same, or the network is so slow that no answer can have come in the time for which an
    /// operation waits for it; or the time is too short for the connection that it needs, which a
    /// client of a cluster makes when it is needed.
    [[nodiscard]] bool may_be_unreachable(nanos asked_at, request const& what) const;
    /// An acquisition must not end so.
    [[nodiscard]] std::string failure_of(std::string const& name, error_code ec, nanos asked_at)
        const;
    /// The same of an error that may be another one soon.
    [[nodiscard]] bool may_be_refused(nanos asked_at) const;
    [[nodiscard]] bool may_pass(error_code ec, nanos asked_at, request const& what) const;
    /// How soon a cancellation has ended an operation.
    template <class Call>
    void judge_cancellation(Call const& asked, std::string const& name) {
        if (asked.cancelled) {
            judge_cancellation(asked.cancelled_by, asked.cancelled_at, asked.done_at, name);
        }
    }
    /// An empty lease, if it was not granted.
    [[nodiscard]] asio::awaitable<lease> ask(request what);
    /// Of several locks that are held as one, whether any of them is held.
    template <class Lease>
    [[nodiscard]] static bool has(Lease const& held) {
        if constexpr (requires { held.size(); }) {
            return static_cast<bool>(held);
        } else {
            return held.valid();
        }
    }
    /// Gives back a lease of any kind, and judges the answer.
    template <class Lease>
    [[nodiscard]] asio::awaitable<void> release(
        Lease& held,
        std::string lock,
        std::optional<cancellation> cancelled = std::nullopt
    ) {
        bool const valid = held.valid();
        auto const asked = std::make_shared<call<>>(executor_);
        asked->initiating = true;
        held.release(asked->token());
        asked->initiating = false;
        if (has(held)) {
            violation(lock + ": held after its release began");
        }
        if (cancelled) {
            asked->cancel_after(cancelled->after, cancelled->type);
        }
        auto wait = done(asked);
        co_await std::move(wait);
        if (held.valid() || held.state() == lease_state::held) {
            violation(lock + ": valid after its release");
        }
        judge_release(lock, *asked, valid);
    }
    /// The same, or now and then drops it.
    template <class Lease>
    [[nodiscard]] asio::awaitable<void> part_with(
        Lease& held,
        std::string lock,
        std::size_t cancelled_percent = 0
    ) {
        if (dice().chance(25)) {
            say("drops " + lock);
            held = Lease{};
            co_return;
        }
        auto const cancelled =
            cancelled_percent > 0 ? random_cancellation(cancelled_percent) : std::nullopt;
        auto parting = release(held, lock, cancelled);
        co_await std::move(parting);
    }
    /// A lease of any kind that was just delivered may have been lost on its way, if that took
    /// time.
    template <class Lease>
    void judge_fresh(Lease const& held, std::string const& name) {
        auto const why = held.loss();
        bool const stale = why == loss_reason::expired || why == loss_reason::unreachable;
        if (stale && process_.free_since() + 1ms < all_.in.now() && !node_.closed()) {
            violation(name + ": the lease that was delivered is over");
        }
    }
    /// What the watcher of a lease has heard.
    void note_told(call<loss_reason> const& watching, oracle::belief& of);
    /// The answer to an operator's request.
    void judge_operator(error_code ec);
    /// Whether a fault or a cancellation explains the error.
    [[nodiscard]] bool expected(error_code ec, bool cancelled) const;
    /// The same of the release of a lease that was valid, or was not.
    [[nodiscard]] bool release_may_end_with(error_code ec, bool cancelled, bool valid) const;

    void say(std::string const& what) const;
    void violation(std::string text) { all_.in.violation(std::move(text)); }

    node& node_;
    setting& all_;
    process& process_;
    lane& lane_;
    asio::any_io_executor executor_;

private:
    void judge_cancellation(
        asio::cancellation_type type,
        nanos cancelled_at,
        nanos done_at,
        std::string const& name
    );
    void start(request const& what, call<lease>& asked);
    void judge_answer(request const& what, call<lease> const& asked, nanos started);
    void judge_release(std::string const& lock, call<> const& asked, bool valid);

    int number_;
    std::weak_ptr<call<lease>> asked_;
};

}  // namespace holdfast::sim

#endif
