#ifndef HOLDFAST_TEST_WIRE_FLAPPING_RUN_HPP
#define HOLDFAST_TEST_WIRE_FLAPPING_RUN_HPP

#include "fault_router.hpp"
#include "report.hpp"
#include "support/background.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"

#include <holdfast.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

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

/// How long an answer may take by the connections of a `flapping_run`.
inline constexpr std::chrono::milliseconds flapping_timeout{250};

/// A client whose link flaps. It keeps one lock, waits for another, which its rival has, and takes
/// and gives back a third.
class flapping_run {
public:
    flapping_run(
        boost::asio::any_io_executor const& executor,
        redis_server const& server,
        std::shared_ptr<report> findings,
        flapping const& how,
        int number,
        std::uint64_t at_least = 10
    );

    boost::asio::awaitable<void> run();

    std::size_t flaps() const { return flaps_; }

    /// By how much more memory was in use in the last quarter than in the second.
    std::ptrdiff_t growth() const;
    std::uint64_t reconnects() const { return client_.stats().reconnects; }
    std::uint64_t renewals() const { return client_.stats().renewals; }
    std::size_t doubts() const { return doubts_; }
    std::size_t waits() const { return waits_; }

private:
    config settings() const;
    boost::asio::awaitable<void> begin();
    boost::asio::awaitable<void> one_renewal_now_and_then();
    boost::asio::awaitable<void> look();
    boost::asio::awaitable<void> work();
    boost::asio::awaitable<void> finish();
    boost::asio::awaitable<void> look_for_leftovers();
    void judge(lease const& held, std::string const& key);
    void expect(bool holds, violation otherwise, std::string const& details);

    boost::asio::any_io_executor executor_;
    std::shared_ptr<report> findings_;
    flapping how_;
    std::uint64_t at_least_;  // reconnections
    std::string name_;
    fault_router board_;
    redis_probe probe_;
    client client_;
    client rival_;
    lease kept_;
    lease theirs_;
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

}  // namespace holdfast::test

#endif
