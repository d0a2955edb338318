// What happens around each message of the server: the steps of the scenario.

#include "scenario.hpp"
#include "support/run.hpp"

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

constexpr auto holder_who_died = "00000000-0000-4000-8000-000000000000:1";

}  // namespace

std::vector<step> const& all_steps() {
    using enum message_kind;
    constexpr auto commands = link_kind::commands;
    constexpr auto notifications = link_kind::notifications;
    static std::vector<step> const all{
        {"hello", commands, hello, &exchange::probed},
        {"ping", commands, probe_ping, &exchange::probed},
        {"time", commands, time, &exchange::probed},
        {"server", commands, server, &exchange::probed},
        {"info", commands, info, &exchange::probed},
        {"acquire", commands, acquire, &exchange::granted},
        {"try_acquire", commands, acquire, &exchange::granted_at_once},
        {"unknown script", commands, no_script, &exchange::script_unknown},
        {"script text", commands, eval, &exchange::granted_by_its_text},
        {"script text at once", commands, eval, &exchange::granted_at_once_by_its_text},
        {"busy acquire", commands, acquire, &exchange::busy},
        {"busy try_acquire", commands, acquire, &exchange::busy_at_once},
        {"renew", commands, renew, &exchange::renewed},
        {"keep-alive", commands, renew, &exchange::kept_alive},
        {"release", commands, release, &exchange::released},
        {"dropped lease", commands, release, &exchange::dropped},
        {"inspect", commands, inspect, &exchange::inspected},
        {"force_release", commands, force_release, &exchange::force_released},
        {"error", commands, error, &exchange::refused},
        {"check of an error", commands, check, &exchange::refused},
        {"health", commands, health, &exchange::idle},
        {"hello for notifications", notifications, hello, &exchange::subscriber_probed},
        {"ping for notifications", notifications, probe_ping, &exchange::subscriber_probed},
        {"subscription", notifications, subscribe, &exchange::busy},
        {"notification", notifications, message, &exchange::notified},
        {"unsubscription", notifications, unsubscribe, &exchange::unsubscribed},
        {"health for notifications", notifications, health, &exchange::idle},
    };
    return all;
}

asio::awaitable<void> exchange::probed() {
    auto const present = stage_.board.connection(name_, link_kind::commands);
    arm();
    stage_.board.proxy().cut(cut_kind::rst, connection_number(present));
    begin_acquire(mine_);
    co_await struck();
    co_await end(mine_, "acquire");
    co_await give_back(mine_);
}

asio::awaitable<void> exchange::idle() {
    arm();
    co_await struck();
}

asio::awaitable<void> exchange::granted() {
    arm();
    begin_acquire(mine_);
    co_await struck();
    begin_acquire(theirs_);
    co_await end(mine_, "acquire");
    co_await hand_over();
}

asio::awaitable<void> exchange::granted_at_once() {
    arm();
    begin_try();
    co_await struck();
    begin_acquire(theirs_);
    co_await end(mine_, "try_acquire", errc::unreachable);
    if (!mine_.error && !mine_.held) {
        found(violation::wrong_end, "busy, but nobody else had the lock");
    }
    co_await hand_over();
}

// What is struck here granted nothing: the rival would be the first.
asio::awaitable<void> exchange::script_unknown() {
    forget_script();
    arm();
    begin_acquire(mine_);
    co_await struck();
    co_await end(mine_, "acquire");
    begin_acquire(theirs_);
    co_await hand_over();
}

asio::awaitable<void> exchange::granted_by_its_text() {
    forget_script();
    co_await granted();
}

asio::awaitable<void> exchange::granted_at_once_by_its_text() {
    forget_script();
    co_await granted_at_once();
}

asio::awaitable<void> exchange::busy() {
    co_await take(theirs_);
    arm();
    begin_acquire(mine_);
    co_await struck();
    co_await give_back(theirs_);
    co_await end(mine_, "acquire");
    co_await give_back(mine_);
}

asio::awaitable<void> exchange::busy_at_once() {
    co_await take(theirs_);
    arm();
    begin_try();
    co_await struck();
    co_await end(mine_, "try_acquire", errc::unreachable);
    if (mine_.held) {
        found(violation::false_grant, "granted, but the rival has the lock");
    }
    co_await give_back(theirs_);
}

asio::awaitable<void> exchange::renewed() {
    co_await take(mine_);
    begin_acquire(theirs_);
    arm();
    begin_renew();
    co_await struck();
    co_await end(mine_, "renew", errc::unreachable);
    auto const held = [this] {
        auto const state = mine_.held.state();
        return state == lease_state::held || (lies() && state == lease_state::lost);
    };
    co_await expect(violation::not_recovered, "the lease is not held again", held);
    judge(mine_);
    co_await hand_over();
}

asio::awaitable<void> exchange::kept_alive() {
    // Every 60 ms.
    acquire_options const often{.lease = std::chrono::minutes{1}, .renew_at = 0.001};
    co_await take(mine_, often);
    begin_acquire(theirs_);
    arm();
    co_await struck();
    auto const before = mine_.held.deadline();
    auto const renewed = [&] {
        auto const state = mine_.held.state();
        return (state == lease_state::held && mine_.held.deadline() > before) ||
               (lies() && state == lease_state::lost);
    };
    co_await expect(violation::not_recovered, "the lease is not renewed any more", renewed);
    judge(mine_);
    co_await hand_over();
}

asio::awaitable<void> exchange::released() {
    co_await take(mine_);
    begin_acquire(theirs_);
    arm();
    begin_release(mine_);
    co_await struck();
    co_await end(mine_, "release", errc::release_unknown);
    co_await end(theirs_, "the rival's acquire");
    co_await give_back(theirs_);
}

asio::awaitable<void> exchange::dropped() {
    co_await take(mine_);
    begin_acquire(theirs_);
    arm();
    mine_.held = lease{};
    co_await struck();
    co_await end(theirs_, "the rival's acquire");
    co_await give_back(theirs_);
}

asio::awaitable<void> exchange::inspected() {
    co_await take(theirs_);
    arm();
    begin_inspect();
    co_await struck();
    co_await end(mine_, "inspect", errc::unreachable);
    co_await give_back(theirs_);
}

asio::awaitable<void> exchange::force_released() {
    stage_.probe.cmd("HSET", key_, holder_who_died, 1);
    stage_.probe.cmd("PEXPIRE", key_, 600'000);
    begin_acquire(theirs_);
    arm();
    begin_force_release();
    co_await struck();
    co_await end(mine_, "force_release", errc::unreachable);
    co_await end(theirs_, "the rival's acquire");
    co_await give_back(theirs_);
}

// The answer to another request that is on its way, such as the look that follows a hand-over,
// proves the error, too. Then there is no check, and it takes another attempt.
asio::awaitable<void> exchange::refused() {
    stage_.probe.set(key_, "not a lock");
    arm();
    begin_acquire(mine_);
    auto const limit = lease_clock::now() + stage_.bound;
    while (!fault_ && !struck_.happened() && lease_clock::now() < limit) {
        co_await mine_.ended.wait(stage_.bound);
        bool const came = co_await struck_.wait(std::chrono::seconds{1});
        if (!came) {
            begin_acquire(mine_);
        }
    }
    co_await struck();
    co_await end(mine_, "acquire", errc::corrupt_state);
    if (!mine_.error) {
        found(violation::false_grant, "granted, but the key holds no lock");
    }
    if (stage_.probe.get(key_) != "not a lock") {
        found(violation::wrong_end, "the value under the key was changed");
    }
    stage_.probe.del(key_);
}

asio::awaitable<void> exchange::subscriber_probed() {
    co_await take(theirs_);
    auto const before = mine_.by.stats().refusals;
    begin_acquire(mine_);
    co_await refusals(before + 2);  // the second one after the confirmation
    arm();
    auto const present = stage_.board.connection(name_, link_kind::notifications);
    stage_.board.proxy().cut(cut_kind::rst, connection_number(present));
    co_await struck();
    co_await give_back(theirs_);
    co_await end(mine_, "acquire");
    co_await give_back(mine_);
}

asio::awaitable<void> exchange::notified() {
    co_await take(theirs_);
    auto const before = mine_.by.stats().refusals;
    begin_acquire(mine_);
    co_await refusals(before + 2);
    arm();
    begin_release(theirs_);
    co_await struck();
    co_await end(theirs_, "the rival's release");
    co_await end(mine_, "acquire");
    co_await give_back(mine_);
}

asio::awaitable<void> exchange::unsubscribed() {
    co_await take(theirs_);
    auto const before = mine_.by.stats().refusals;
    begin_acquire(mine_);
    co_await refusals(before + 2);
    co_await give_back(theirs_);
    co_await end(mine_, "acquire");
    arm();
    co_await give_back(mine_);
    co_await struck();
}

}  // namespace holdfast::test
