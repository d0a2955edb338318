#include "support/foreign/contest.hpp"

#include "support/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

// On a loaded machine a contestant may come late.
constexpr std::chrono::seconds slack{10};

}  // namespace

void contest::add(lock on, manner how) {
    contestants_.push_back({[on](contest& self) { return self.our_turn(on); }, how});
}

void contest::add(foreign_client& by, std::string name, std::int64_t thread) {
    contestants_.push_back({[&by, name, thread](contest& self) {
        return self.foreign_turn(by, name, thread);
    }});
}

asio::awaitable<void> contest::run(std::chrono::milliseconds duration, int grants) {
    auto const executor = co_await asio::this_coro::executor;
    end_ = steady_clock::now() + duration;
    latest_end_ = end_ + slack;
    enough_ = grants;
    std::exception_ptr failure;
    running_ = contestants_.size();
    for (auto& who : contestants_) {
        asio::co_spawn(executor, repeat(who), [&](std::exception_ptr thrown) {
            failure = thrown ? thrown : failure;
            --running_;
        });
    }
    // Who waits when the time is over gets it from the others.
    auto const all_home = [&] { return running_ == 0 || failure; };
    co_await co_eventually(duration + slack + std::chrono::seconds{15}, all_home);
    if (failure) {
        std::rethrow_exception(failure);
    }
}

bool contest::goes_on() const {
    auto const now = steady_clock::now();
    return now < end_ || (now < latest_end_ && fewest_grants() < enough_);
}

asio::awaitable<void> contest::repeat(contestant& who) {
    while (goes_on()) {
        co_await who.take(*this);
        ++who.grants;
        // Long enough that the lock is free now and then: where wake-ups race, the slowest one
        // would never win.
        if (who.how == manner::pausing) {
            co_await sleep_for(draw(0, 16'000));
        }
    }
}

asio::awaitable<void> contest::our_turn(lock const& on) {
    auto lease = co_await on.acquire();
    co_await hold(lease.token().value);
    losses_ += lease.valid() ? 0 : 1;
    co_await lease.release();
}

asio::awaitable<void> contest::foreign_turn(
    foreign_client& by,
    std::string const& name,
    std::int64_t thread
) {
    auto const grant = co_await by.acquire(name, thread);
    co_await hold(grant.token);
    co_await by.release(grant);
}

asio::awaitable<void> contest::hold(std::uint64_t token) {
    overlaps_ += holders_++ == 0 ? 0 : 1;
    if (token != 0) {
        bad_tokens_ += token > greatest_token_ ? 0 : 1;
        greatest_token_ = std::max(token, greatest_token_);
    }
    co_await sleep_for(draw(500, 1500));
    --holders_;
}

std::chrono::microseconds contest::draw(int from_us, int to_us) {
    return std::chrono::microseconds{std::uniform_int_distribution<int>{from_us, to_us}(random_)};
}

int contest::fewest_grants() const {
    auto const by_grants = [](contestant const& a, contestant const& b) {
        return a.grants < b.grants;
    };
    return std::min_element(contestants_.begin(), contestants_.end(), by_grants)->grants;
}

std::string contest::describe() const {
    std::string text = "grants:";
    for (auto const& who : contestants_) {
        text += " " + std::to_string(who.grants);
    }
    return text;
}

}  // namespace holdfast::test
