#ifndef HOLDFAST_TEST_WIRE_CAMPAIGN_HPP
#define HOLDFAST_TEST_WIRE_CAMPAIGN_HPP

#include "disturbance.hpp"
#include "report.hpp"
#include "scenario.hpp"
#include "stall_detector.hpp"
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
#include <vector>

namespace holdfast::test {

/// Runs exchanges side by side, each with a lock of its own: a lane has a client, which goes from
/// one case to the next. The cases may be run in any order.
class campaign {
public:
    struct terms {
        int lanes = 1;
        std::chrono::milliseconds timeout{};       // of a request, and of an idle connection
        std::chrono::milliseconds bound{};         // no operation takes longer
        std::chrono::milliseconds lease{};         // of the clients under test
        std::chrono::milliseconds rivals_lease{};  // which a waiter may wait for
        std::chrono::milliseconds fallback_poll_interval{};
    };

    /// One run of one step.
    struct wire_case {
        step const* where;
        disturbance what;
        bool own_client = false;  // its fault may be noticed long after it
    };

    campaign(boost::asio::any_io_executor const& executor, terms const& how);

    /// All steps without a fault: how long their messages are, and that all is well then.
    boost::asio::awaitable<std::vector<std::size_t>> preflight();

    /// Returns when all have ended; `make` is called for the numbers in `chosen`.
    boost::asio::awaitable<void> run(
        std::vector<std::size_t> const& chosen,
        std::function<wire_case(std::size_t)> const& make
    );

    report const& findings() const { return *findings_; }
    std::uint64_t reconnects() const { return reconnects_; }
    std::uint64_t withdrawals() const { return withdrawals_; }

private:
    config settings_of(std::string const& name) const;
    config patient(std::string const& name) const;
    // A client under test, and what its cases have done to it.
    struct subject {
        std::string name;
        std::unique_ptr<client> by{};
        bool was_lied_to = false;
    };

    boost::asio::awaitable<void> lane(std::string name);
    boost::asio::awaitable<void> run_case(
        subject& tested,
        wire_case const& one,
        std::shared_ptr<report> findings
    );
    boost::asio::awaitable<void> start(subject& tested);
    boost::asio::awaitable<void> retire(subject& tested, report& findings);
    boost::asio::awaitable<void> look_at_the_end();

    boost::asio::any_io_executor executor_;
    terms terms_;
    redis_server server_;
    fault_router board_;
    redis_probe probe_;
    client rival_;
    stall_detector beat_;
    std::shared_ptr<report> findings_ = std::make_shared<report>();
    stage stage_;
    std::vector<std::size_t> chosen_;
    std::function<wire_case(std::size_t)> make_;
    lease_clock::time_point began_{};
    std::size_t next_ = 0;
    std::size_t keys_ = 0;
    std::uint64_t reconnects_ = 0;
    std::uint64_t withdrawals_ = 0;
};

}  // namespace holdfast::test

#endif
