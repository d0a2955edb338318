#ifndef HOLDFAST_TEST_SOAK_LOCK_WORKER_HPP
#define HOLDFAST_TEST_SOAK_LOCK_WORKER_HPP

#include "soak/account.hpp"
#include "soak/worker.hpp"

#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/owner.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace holdfast::soak {

/// Takes one lock after the other, in every way there is, and uses what it protects.
class lock_worker final : public worker {
public:
    /// `patient`: it holds the locks that are held for long.
    lock_worker(
        workplace& where,
        boost::asio::any_io_executor executor,
        bool patient,
        std::uint64_t seed
    )
        : worker{where, std::move(executor), seed},
          patient_{patient} {}

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

    boost::asio::awaitable<bool> take_turn(bool last) override;
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

    bool patient_;
};

}  // namespace holdfast::soak

#endif
