#include "stall_detector.hpp"

#include "support/run.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds interval{10};

// Some minutes.
constexpr std::size_t most_beats = 30'000;

}  // namespace

stall_detector::stall_detector(asio::any_io_executor const& executor, client& by) {
    asio::co_spawn(executor, beat_on(state_, by.lock("stall_detector")), asio::detached);
}

stall_detector::~stall_detector() {
    state_->stopped = true;
}

asio::awaitable<void> stall_detector::beat_on(std::shared_ptr<state> kept, lock asked) {
    while (!kept->stopped) {
        auto const now = lease_clock::now();
        kept->beats.push_back({now, lease_clock::time_point::max()});
        co_await sleep_for(interval);
        co_await asked.inspect(asio::as_tuple(asio::use_awaitable));
        kept->beats.back().answered = lease_clock::now() - interval;
        if (kept->beats.size() > most_beats) {
            kept->beats.pop_front();
        }
    }
}

std::chrono::nanoseconds stall_detector::longest_since(lease_clock::time_point then) const {
    std::chrono::nanoseconds longest{0};
    auto const now = lease_clock::now();
    for (auto one = state_->beats.rbegin(); one != state_->beats.rend(); ++one) {
        auto const answered = std::min(one->answered, now);
        if (answered < then) {
            break;
        }
        longest = std::max(longest, answered - one->asked);
    }
    return longest;
}

asio::awaitable<void> until_undisturbed(
    report& findings,
    stall_detector const& beat,
    std::chrono::nanoseconds patience,
    std::function<asio::awaitable<void>(std::shared_ptr<report>)> const& run
) {
    constexpr int most_tries = 5;
    for (int tries = 1;; ++tries) {
        auto const start = lease_clock::now();
        auto const found = std::make_shared<report>();
        auto one = run(found);
        co_await std::move(one);
        bool const may_be_late = !found->clean() && found->count(violation::false_grant) == 0;
        if (may_be_late && beat.longest_since(start) > patience && tries < most_tries) {
            findings.repeated();
            continue;
        }
        findings.add(*found);
        co_return;
    }
}

}  // namespace holdfast::test
