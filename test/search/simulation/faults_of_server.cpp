// What goes wrong with the server, its data and its rules.

#include "simulation/faults.hpp"

#include <fmt/core.h>

#include <utility>

namespace holdfast::sim {

namespace {

constexpr char const* other_holder = "5f0c0000-0000-0000-0000-000000000000:7";
constexpr char const* other_writer = "5f0c0000-0000-0000-0000-000000000000:7:write";

}  // namespace

void faults::on_server(std::size_t which) {
    auto& on = all_.on;
    auto& at = some_server();
    if (changing_places_ && which < 4) {
        return;  // one thing at a time
    }
    switch (which) {
        case 0:
        case 1:
            say("the server is stopped");
            on.pause(at);
            lasts(a_while(), [&on, &at] {
                if (at.paused) {
                    on.resume(at);
                }
            });
            break;
        case 2:
        case 3: {
            // Nodes of a cluster have their data in one place.
            bool const keep = which == 2 || all_.at == deployment::cluster;
            say(keep ? "the server is killed" : "the server is killed, and loses its data");
            if (!keep) {
                all_.judge.excuse("");
                all_.judge.counting().on_data_lost();
            }
            on.kill(at);
            lasts(a_while(), [&on, &at, this, keep] {
                // Another one may be the primary by then, and this one its replica.
                if (&at != &on.primary()) {
                    on.start(at, true);
                    return;
                }
                if (!keep) {
                    all_.judge.excuse("");
                }
                on.start(at, keep);
                set_limits_again();
            });
            break;
        }
        default:
            say("the server forgets its scripts");
            on.data_of(at).flush_scripts();
            at_once();
            break;
    }
}

void faults::on_data(std::size_t which) {
    auto& on = all_.on;
    auto const& lock = some_lock();
    at_once();
    if (is_pool(lock) && which != 0 && which != 4 && which != 5) {
        on_pool_data(which, lock);
        return;
    }
    switch (which) {
        case 0:
            say("all data are lost");
            all_.judge.excuse("");
            all_.judge.counting().on_data_lost();
            on.data().flush_all();
            // Otherwise a user does who knows the number.
            if (dice().chance(50)) {
                set_limits_again();
            }
            break;
        case 1:
        case 2:
            say(lock + " is deleted without a notification");
            all_.judge.excuse(lock);
            if (!on.queue_of(lock).empty()) {
                all_.judge.reached(sometimes::queue_outlives);
            }
            on.data().erase(lock);
            break;
        case 3:
            say("the counter of " + lock + " is lost");
            on.data().erase("redisson_lock_token:" + tagged(lock));
            break;
        case 4:
            say("the server's clock goes forward");
            all_.judge.excuse("");
            all_.judge.on_clock_step();
            all_.judge.hand_overs().on_clock_step(false);
            all_.judge.reached(sometimes::clock_fault);
            on.step_clock(dice().any_scale(10ms, 10s));
            break;
        case 5:
            say("the server's clock goes back");
            all_.judge.forget_tokens();
            all_.judge.hand_overs().on_clock_step(true);
            on.step_clock(-dice().any_scale(10ms, 5s));
            break;
        case 6: {
            if (on.data().exists(lock) || !on.up()) {
                break;
            }
            say("somebody else takes " + lock);
            if (is_read_write(lock)) {
                on.as_operator({"HSET", lock, "mode", "write", other_writer, "1"});
            } else {
                on.as_operator({"HSET", lock, other_holder, "1"});
            }
            given_back_.erase(lock);
            if (dice().chance(50)) {
                all_.judge.on_endless_holder(lock);
                all_.in.after(a_while(), [this, lock] { end_endless(lock); });
                break;
            }
            on.as_operator({"PEXPIRE", lock, std::to_string(200 + dice().below(3'000))});
            all_.judge.on_other_holder(lock, true);
            all_.in.after(a_while(), [this, lock] { give_back(lock); });
            break;
        }
        default: {
            if (dice().chance(50)) {
                strange_usual_hold(lock);
                break;
            }
            say("a foreign value stands in the place of " + lock);
            all_.foreign_values = true;
            all_.judge.excuse(lock);
            on.as_operator({"SET", lock, "precious", "PX", "1500"});
            break;
        }
    }
}

void faults::set_limits_again() {
    for (auto const& one : all_.locks) {
        if (is_pool(one) && all_.on.up()) {
            all_.judge.permits().set_limit_again(one);
        }
    }
}

void faults::on_pool_data(std::size_t which, std::string const& pool) {
    auto& on = all_.on;
    auto& permits = all_.judge.permits();
    if (!on.up()) {
        return;
    }
    switch (which) {
        case 1:
            say(pool + " is deleted without a notification");
            all_.judge.excuse(pool);
            on.data().erase(pool);
            on.data().erase(tagged(pool) + ":timeout");
            permits.set_limit_again(pool);
            break;
        case 2:
            say("the number of free permits of " + pool + " is lost");
            on.data().erase(pool);
            all_.in.after(a_while(), [this] { set_limits_again(); });
            break;
        case 3:
            say("the counter of " + pool + " is lost");
            on.data().erase("holdfast_semaphore_token:" + tagged(pool));
            break;
        case 6: {
            std::chrono::milliseconds const lease{200 + dice().below(3'000)};
            if (permits.take_for_other(pool, lease)) {
                say("somebody else takes a permit of " + pool);
                all_.judge.reached(sometimes::other_holder);
                all_.judge.on_maybe_free(pool);
                all_.in.after(a_while(), [this, pool] {
                    if (all_.on.up()) {
                        all_.judge.permits().give_back_from_other(pool);
                        all_.judge.on_maybe_free(pool);
                    }
                });
            }
            break;
        }
        default:
            say("a foreign value stands in the place of " + pool);
            all_.foreign_values = true;
            on.as_operator({"SET", pool, "precious"});
            all_.in.after(1500ms, [this, pool] { end_foreign_value(pool); });
            break;
    }
}

// Whatever stands there, locks are granted and released.
void faults::strange_usual_hold(std::string const& lock) {
    say("something else stands for the usual hold of " + lock);
    auto const key = "holdfast_hold:" + tagged(lock);
    all_.on.as_operator({"DEL", key});
    if (dice().chance(30)) {
        all_.on.as_operator({"HSET", key, "precious", "1"});
        return;
    }
    auto const* const text = dice().one_of<char const*>(
        {"", "-5", "0", "1e300", "nan", "99999999999", "100000000000", "0x10", "12 34"}
    );
    all_.on.as_operator({"SET", key, text});
}

void faults::give_back(std::string const& lock) {
    given_back_.insert(lock);
    if (all_.judge.holds_on_server(lock, other_holder) && all_.on.up()) {
        all_.in.trace(nullptr, "FAULT: somebody else gives back " + lock);
        all_.on.as_operator({"DEL", lock});
        all_.on.publish("redisson_lock__channel:" + tagged(lock), "0");
        all_.on.publish("redisson_rwlock:" + tagged(lock), "1");
        all_.judge.on_other_holder(lock, false);
    }
}

// Gives it back, or gives it an expiry in the end: then it may not be taken over any more.
void faults::end_endless(std::string const& lock) {
    if (!all_.on.up()) {
        all_.in.after(100ms, [this, lock] { end_endless(lock); });
        return;
    }
    if (dice().chance(50)) {
        give_back(lock);
        return;
    }
    // Also if it was taken over: a replica may not know that yet.
    given_back_.insert(lock);
    if (all_.judge.holds_on_server(lock, other_holder)) {
        all_.in.trace(nullptr, "FAULT: somebody else limits " + lock);
        all_.on.as_operator({"PEXPIRE", lock, std::to_string(200 + dice().below(3'000))});
        all_.judge.on_endless_limited(lock);
    }
}

// A pool gives no permits until their number is set again.
void faults::end_foreign_value(std::string const& pool) {
    if (!all_.on.up()) {
        all_.in.after(100ms, [this, pool] { end_foreign_value(pool); });
        return;
    }
    if (all_.on.data().get(pool) == "precious") {
        all_.on.as_operator({"DEL", pool});
    }
    set_limits_again();
}

void faults::on_refusal() {
    auto& on = all_.on;
    auto const what = dice().one_of(
        {refusal::oom,
         refusal::read_only,
         refusal::misconf,
         refusal::noreplicas,
         refusal::loading,
         refusal::busy,
         refusal::masterdown}
    );
    if (dice().chance(40)) {
        auto const* const text = dice().one_of<char const*>(
            {"CLUSTERDOWN The cluster is down",
             "TRYAGAIN Multiple keys request during rehashing of slot",
             "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
             "NOSAVE.",
             "NOREPLICAS Not enough good replicas to write.",
             "ERR something that nobody has ever heard of",
             "ERR max number of clients reached"}
        );
        say(fmt::format("the next scripts are refused: {}", text));
        server::refuse_scripts(some_server(), 1 + dice().below(3), text);
        at_once();
        return;
    }
    say(fmt::format("the server refuses, kind {}", static_cast<int>(what)));
    auto& at = some_server();
    at.data.set_refusal(what);
    bool const pings = what == refusal::loading || what == refusal::busy;
    on.set_pings_fail(at, pings);
    lasts(a_while(), [&on, &at] {
        at.data.set_refusal(refusal::none);
        on.set_pings_fail(at, false);
    });
}

void faults::on_rules(std::size_t which) {
    auto& at = some_server();
    user_rules rules;
    switch (which) {
        case 0:
            say("the user may not do something");
            all_.denials = true;
            rules.denied_commands.insert(dice().one_of<char const*>(
                {"incr", "hset", "pexpire", "hdel", "hexists", "evalsha", "pttl"}
            ));
            break;
        case 1:
            say("the user may not use channels");
            all_.denials = true;
            rules.channels.emplace();
            break;
        case 2:
            say("the user may not publish");
            all_.denials = true;
            rules.denied_commands.insert({"publish", "spublish"});
            break;
        default:
            say("the user has to log in");
            all_.bad_passwords = true;
            at.data.set_refusal(refusal::noauth);
            lasts(a_while(), [&at] { at.data.set_refusal(refusal::none); });
            return;
    }
    all_.judge.hand_overs().excuse();
    at.data.set_user("default", rules);
    lasts(a_while(), [&at] { at.data.set_user("default", user_rules{}); });
}

}  // namespace holdfast::sim
