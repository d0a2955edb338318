// A semaphore beside Redisson's RPermitExpirableSemaphore. Who "holds" has the permits first.

#include "interop/checks.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace {

/// One who uses the semaphore: a task of ours, or a thread of Redisson's.
class permit_side {
public:
    permit_side(situation& in, party who, std::string name)
        : in_{in},
          ours_{who == party::ours},
          thread_{in.java.new_thread()},
          name_{std::move(name)} {}

    asio::awaitable<bool> set(std::int64_t limit) {
        if (ours_) {
            co_return co_await here(1).try_set_permits(limit, asio::use_awaitable);
        }
        co_return co_await tell("set", std::to_string(limit)) == "true";
    }
    /// A lease of -1 is kept until it is given back.
    asio::awaitable<bool> acquire(std::int64_t count, milliseconds lease) {
        if (ours_) {
            bool const renewed = lease < 0ms;
            acquire_options const options{
                .lease = renewed ? renewed_lease : lease,
                .renew = renewed
            };
            held_ = co_await here(count).acquire(options, asio::use_awaitable);
        } else {
            auto words = std::to_string(count) + " " + std::to_string(lease.count());
            co_await tell("acquire", std::move(words));
        }
        co_return true;
    }
    asio::awaitable<bool> try_acquire(std::int64_t count) {
        if (ours_) {
            held_ = co_await here(count).try_acquire(asio::use_awaitable);
            co_return static_cast<bool>(held_);
        }
        co_return co_await tell("try", std::to_string(count)) == "true";
    }
    /// Whether they were this one's.
    asio::awaitable<bool> release() {
        if (ours_) {
            auto given_back = std::move(held_);
            auto const [ec] = co_await given_back.release(as_result);
            co_return !ec;
        }
        co_return co_await tell("release", "") == "true";
    }
    asio::awaitable<std::int64_t> available() {
        if (ours_) {
            co_return co_await here(1).available(asio::use_awaitable);
        }
        co_return std::stoll(co_await tell("available", ""));
    }
    [[nodiscard]] lease& held() { return held_; }

private:
    [[nodiscard]] semaphore here(std::int64_t count) const {
        return in_.ours.semaphore(name_).permits(count);
    }
    asio::awaitable<std::string> tell(std::string command, std::string more) {
        auto words = "permits." + command + " " + name_ + (more.empty() ? "" : " " + more);
        return in_.java.tell(thread_, std::move(words));
    }

    situation& in_;
    bool ours_;
    std::string thread_;
    std::string name_;
    lease held_;
};

using side_ptr = std::shared_ptr<permit_side>;

constexpr milliseconds until_released{-1};

// A check that failed may leave one waiting.
side_ptr make(situation& in, party who, std::string name) {
    return std::make_shared<permit_side>(in, who, std::move(name));
}
side_ptr make(situation& in, party who) {
    return make(in, who, in.key);
}

asio::awaitable<bool> take(side_ptr who, std::int64_t count, milliseconds lease = until_released) {
    co_return co_await who->acquire(count, lease);
}

std::string deadlines_of(std::string const& name) {
    return "{" + name + "}:timeout";
}

task until_listening(situation& in, std::string name) {
    bool const has_tag = name.find('{') != std::string::npos;
    auto const channel = "redisson_sc:" + (has_tag ? name : "{" + name + "}");
    auto const listens = [&] { return in.probe.pubsub_numsub(channel) > 0; };
    in.expect(co_await co_eventually(soon, listens), "nobody waits for the message of a release");
    co_await sleep_for(300ms);
}
task until_listening(situation& in) {
    return until_listening(in, in.key);
}

task they_are_set_once_and_taken_by_both(situation& in) {
    auto const one = make(in, in.holds);
    auto const other = make(in, in.waits());
    auto const third = make(in, in.holds);
    in.expect(co_await one->set(3), "they could not be set");
    in.expect(co_await one->try_acquire(1), "there was none");
    in.expect(co_await other->available() == 2, "the other does not see what was taken");
    in.expect(co_await other->try_acquire(2), "there were not enough");
    in.expect(!co_await third->try_acquire(1), "more were taken than there were");
    in.expect(!co_await make(in, in.waits())->try_acquire(1), "more were taken than there were");
    in.expect(co_await one->release(), "one was not its holder's any more");
    in.expect(co_await third->try_acquire(1), "one was not given back");
    in.expect(co_await other->release(), "two were not their holder's any more");
    in.expect(co_await third->release(), "one was not its holder's any more");
    in.expect(co_await one->available() == 3, "not all were given back");
    in.expect(!in.probe.exists(deadlines_of(in.key)), "a permit is left");
}

task ours_knows_the_limit_that_java_set(situation& in) {
    auto const java = make(in, party::java);
    co_await java->set(3);
    co_await java->try_acquire(1);
    auto const pool = in.ours.semaphore(in.key);
    auto const [same, now] = co_await pool.try_set_permits(3, as_result);
    in.expect(!same && !now, "the same number is another");
    auto const [other, again] = co_await pool.try_set_permits(4, as_result);
    in.expect(other == errc::limit_mismatch, "another number is the same");
    auto const four = pool.permits(4);
    auto const [ec, none] = co_await four.acquire(as_result);
    in.expect(ec == errc::invalid_options, "it waits for more than there are");
    auto const info = co_await pool.inspect(asio::use_awaitable);
    in.expect(info.limit == 3 && info.acquired == 1, "they are not counted right");
}

task a_release_wakes_the_other_one(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(3);
    for (std::int64_t count = 1; count <= 3; ++count) {
        co_await one->acquire(3, until_released);
        auto const waiter = make(in, in.waits());
        auto const waiting = in.start(take(waiter, count));
        co_await until_listening(in);
        in.expect(!waiting->done, "permits were taken that were not there");
        in.expect(co_await one->release(), "they were not their holder's any more");
        if (!in.expect(co_await in.granted(waiting), "the waiter was not woken")) {
            co_return;
        }
        in.expect(co_await waiter->release(), "they were not the waiter's any more");
    }
}

task who_waits_before_they_are_set_is_woken(situation& in) {
    // 3.23.5 sleeps until as many messages have come as permits are wanted, if no permit that is
    // taken has an end.
    auto const waiting = in.start(take(make(in, party::java), 1));
    co_await until_listening(in);
    // One that states how many there are sets them.
    auto const pool = in.ours.semaphore(in.key).limit(2);
    auto lease = co_await pool.acquire(asio::use_awaitable);
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
}

task permits_that_end_come_back(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(2);
    co_await one->acquire(2, 1500ms);
    auto const waiter = make(in, in.waits());
    auto const waiting = in.start(take(waiter, 1));
    auto const began = steady_clock::now();
    in.expect(co_await in.granted(waiting), "the waiter got nothing when the lease had ended");
    in.expect(steady_clock::now() - began < 4s, "the waiter did not look when it had ended");
    in.expect(!co_await one->release(), "they were their holder's after their end");
    in.expect(co_await waiter->release(), "one was not the waiter's any more");
    in.expect(co_await waiter->available() == 2, "they have become more, or less");
}

task permits_that_are_renewed_are_kept(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(2);
    co_await one->acquire(2, until_released);
    auto const waiting = in.start(take(make(in, in.waits()), 1));
    for (auto const end = steady_clock::now() + 5s; steady_clock::now() < end;) {
        if (!in.expect(!waiting->done, "a permit was taken that was held")) {
            break;
        }
        co_await sleep_for(200ms);
    }
    in.expect(co_await one->release(), "they were not their holder's any more");
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
}

struct crowd {
    int inside = 0;
    int most = 0;
};

asio::awaitable<bool> work(side_ptr who, std::int64_t count, std::shared_ptr<crowd> in) {
    for (int i = 0; i < 10; ++i) {
        co_await who->acquire(count, 30s);
        in->inside += static_cast<int>(count);
        in->most = std::max(in->most, in->inside);
        co_await sleep_for(2ms);
        in->inside -= static_cast<int>(count);
        if (!co_await who->release()) {
            co_return false;
        }
    }
    co_return true;
}

task both_share_them(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(3);
    auto const together = std::make_shared<crowd>();
    std::vector<std::shared_ptr<outcome<bool>>> all;
    for (int i = 0; i < 12; ++i) {
        auto const of = i % 2 ? party::ours : party::java;
        // 3.23.5 wakes one who waits for two after two messages, and sends one.
        bool const may_want_two = of == party::ours || in.version != "3.23.5";
        all.push_back(in.start(work(make(in, of), i < 4 && may_want_two ? 2 : 1, together)));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool const ended = co_await in.granted(all[i], 2 * soon);
        auto const whose = i % 2 ? "one of ours" : "one of Java's";
        in.expect(ended && all[i]->value, whose + std::string{" did not get its turns"});
    }
    in.expect(together->most <= 3, "more were taken than there were");
    in.expect(co_await one->available() == 3, "not all were given back");
}

task a_name_with_braces(situation& in) {
    auto const name = "a{" + in.key + "}";
    auto const one = make(in, in.holds, name);
    co_await one->set(1);
    co_await one->acquire(1, until_released);
    auto const waiting = in.start(take(make(in, in.waits(), name), 1));
    co_await until_listening(in, name);
    in.expect(in.probe.exists(name + ":timeout"), "the permits stand elsewhere");
    co_await one->release();
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
}

task java_adds_permits(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(1);
    co_await one->acquire(1, until_released);
    auto const waiting = in.start(take(make(in, party::ours), 1));
    co_await until_listening(in);
    co_await in.java.tell("add", "permits.add " + in.key + " 1");
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
    auto const pool = in.ours.semaphore(in.key);
    auto const info = co_await pool.inspect(asio::use_awaitable);
    in.expect(info.limit == 2, "the new number is not that of the server");
    auto const [same, now] = co_await pool.try_set_permits(2, as_result);
    in.expect(!same && !now, "the new number is another");
}

task a_permit_of_ours_that_java_releases_is_lost(situation& in) {
    auto const one = make(in, party::ours);
    co_await one->set(3);
    co_await one->acquire(2, until_released);
    auto const permits = in.probe.cmd("ZRANGE", deadlines_of(in.key), 0, 0);
    std::string id;
    for (unsigned char const byte : permits.as_array().front().text) {
        constexpr char digits[] = "0123456789abcdef";
        id += digits[byte / 16];
        id += digits[byte % 16];
    }
    auto const said = co_await in.java.tell("release", "permits.releaseId " + in.key + " " + id);
    in.expect(said == "true", "its id is not the one that Java knows");
    auto const lost = [&] { return !one->held().valid(); };
    in.expect(co_await co_eventually(soon, lost), "its holder does not learn of it");
    in.expect(co_await one->available() == 3, "what was left of the hold was not given back");
}

}  // namespace

// The peer's commands begin with another word: that of a semaphore is Redisson's RSemaphore.
primitive permits_primitive() {
    return {
        .name = "permits",
        .has_tokens = false,
        .ours = {},
        .java = {},
        .checks =
            {{"they_are_set_once_and_taken_by_both",
              begins::both,
              &they_are_set_once_and_taken_by_both},
             {"ours_knows_the_limit_that_java_set",
              begins::java,
              &ours_knows_the_limit_that_java_set},
             {"a_release_wakes_the_other_one", begins::both, &a_release_wakes_the_other_one},
             {"who_waits_before_they_are_set_is_woken",
              begins::ours,
              &who_waits_before_they_are_set_is_woken},
             {"permits_that_end_come_back", begins::both, &permits_that_end_come_back},
             {"permits_that_are_renewed_are_kept", begins::both, &permits_that_are_renewed_are_kept
             },
             {"both_share_them", begins::both, &both_share_them},
             {"a_name_with_braces", begins::both, &a_name_with_braces},
             {"java_adds_permits", begins::both, &java_adds_permits},
             {"a_permit_of_ours_that_java_releases_is_lost",
              begins::ours,
              &a_permit_of_ours_that_java_releases_is_lost}},
    };
}

}  // namespace holdfast::test
