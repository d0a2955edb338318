#ifndef HOLDFAST_TEST_SOAK_WORKER_HPP
#define HOLDFAST_TEST_SOAK_WORKER_HPP

#include "soak/cell_options.hpp"
#include "soak/resource.hpp"
#include "support/history/event.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>

namespace holdfast::soak {

/// How often a holder looks at its lease and at the end of its time.
inline constexpr millis look_interval{15};

/// What the coroutines of one worker share.
struct workplace {
    std::deque<client>& nodes;  // one for each server that is named
    history_file& history;
    std::string resource;
    std::int64_t process;
    bool one_thread;  // it may be blocked now and then
    std::atomic<std::int64_t> last_op{0};
    std::atomic<bool> closing{false};  // one more turn for everybody, then home

    [[nodiscard]] client& locks() const { return nodes.front(); }
};

/// A coroutine that takes something, uses it and gives it back, again and again.
class worker {
public:
    /// `executor` is a strand.
    worker(workplace& where, boost::asio::any_io_executor executor, std::uint64_t seed);
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    virtual ~worker() = default;

    /// Ends when the workplace closes, but not before it was granted something once more.
    boost::asio::awaitable<void> run();

protected:
    /// Whether it was granted something. `last`: it should be over soon.
    virtual boost::asio::awaitable<bool> take_turn(bool last) = 0;

    std::int64_t draw(std::int64_t below);
    bool one_in(std::int64_t n) { return draw(n) == 0; }
    nanos draw_ms(std::int64_t from, std::int64_t to);
    boost::asio::awaitable<void> sleep_for(nanos duration) const;

    workplace& where_;
    boost::asio::any_io_executor executor_;
    resource_client resource_;

private:
    std::mt19937_64 random_;
};

/// `number` counts the coroutines of a worker: some have tasks of their own.
std::unique_ptr<worker> make_worker(
    workload what,
    workplace& where,
    boost::asio::any_io_executor executor,
    int number,
    std::uint64_t seed
);

/// Writes down the leaders of the election until it is cancelled.
boost::asio::awaitable<void> observe_leaders(workplace& where);

}  // namespace holdfast::soak

#endif
