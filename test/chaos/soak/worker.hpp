#ifndef HOLDFAST_TEST_SOAK_WORKER_HPP
#define HOLDFAST_TEST_SOAK_WORKER_HPP

#include "soak/account.hpp"
#include "soak/resource.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/owner.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>

namespace holdfast::soak {

/// What the coroutines of one worker share.
struct workplace {
    client& locks;
    history_file& history;
    std::string resource;
    std::int64_t process;
    bool one_thread;  // it may be blocked now and then
    std::atomic<std::int64_t> last_op{0};
    std::atomic<bool> closing{false};  // one more lock for everybody, then home
};

/// A coroutine that takes one lock after the other, in every way there is, and uses what it
/// protects.
class worker {
public:
    /// `executor` is a strand. `patient`: it holds the locks that are held for long.
    worker(
        workplace& where,
        boost::asio::any_io_executor executor,
        bool patient,
        std::uint64_t seed
    );

    /// Ends when the workplace closes, but not before it was granted a lock once more.
    boost::asio::awaitable<void> run();

private:
    enum class way { acquire, limited, cancelled, body, twice, fixed };

    /// One turn, all of it drawn beforehand.
    struct plan {
        way how = way::acquire;
        std::int64_t lock = 0;
        std::chrono::nanoseconds limit{-1};
        boost::asio::cancellation_type cancellation = boost::asio::cancellation_type::terminal;
        std::chrono::nanoseconds hold{0};
        bool watched = false;  // is told of a loss; otherwise it relies on `valid()`
        bool careful = true;   // looks at the lease before it acts, and stops when it is lost
        bool renews = false;   // once more than the library does
        bool drops = false;    // leaves the release to the destructor
        bool lingers = false;  // releases what it has lost only after the deadline
        bool blocks = false;   // its thread, while the answer is on its way
        acquire_options with;
    };

    std::int64_t draw(std::int64_t below);
    bool one_in(std::int64_t n) { return draw(n) == 0; }
    std::chrono::nanoseconds draw_ms(std::int64_t from, std::int64_t to);
    plan draw_plan(bool last);
    plan draw_patient_plan();
    acquire_options draw_options(way how);

    account open(plan const& p, std::int64_t owner);
    [[nodiscard]] holdfast::lock lock_of(plan const& p) const;

    boost::asio::awaitable<bool> turn(plan p);
    boost::asio::awaitable<lease> ask(plan const& p, error_code& ec);
    boost::asio::awaitable<void> use(plan const& p, account& a, lease& held);
    boost::asio::awaitable<void> hold(plan const& p, account& a, lease& held);
    boost::asio::awaitable<void> renew(plan const& p, account& a, lease& held);
    boost::asio::awaitable<void> linger(lease& held);
    boost::asio::awaitable<void> give_up(plan const& p, account& a, lease& held);
    boost::asio::awaitable<bool> turn_with_body(plan p);
    boost::asio::awaitable<bool> turn_twice(plan p);
    boost::asio::awaitable<void> again(plan p, owner me, std::int64_t name);

    bool settle(plan const& p, account& a, lease& held, error_code ec) const;
    void watch(account const& a, lease& held) const;
    static void look(plan const& p, account& a, lease const& held);
    void block_soon();

    workplace& where_;
    boost::asio::any_io_executor executor_;
    bool patient_;
    std::mt19937_64 random_;
    resource_client resource_;
};

}  // namespace holdfast::soak

#endif
