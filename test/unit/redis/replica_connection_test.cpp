// Requests that wait for replicas, without a connection. What a server makes of them is tested with
// servers.

#include "redis/replica_connection.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <utility>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::lease_clock;
using holdfast::detail::call;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::replica_connection;
using holdfast::detail::script;
using holdfast::detail::supervisor;
using holdfast::test::nowhere;

namespace {

constexpr script example{"example", "return 1", ""};

struct asking {
    void ask(std::chrono::nanoseconds timeout) {
        got.reset();
        one->exec(call{example, 10s}, {1, timeout}, [this](exec_result result, unsigned have) {
            got = std::move(result);
            confirmed = have;
        });
        BOOST_TEST(!got.has_value());
    }

    explicit asking(std::string const& missing_ca_file = {}) : at{missing_ca_file} {}

    nowhere at;
    std::shared_ptr<replica_connection> one =
        std::make_shared<replica_connection>(at.server(), supervisor::events{}, [] {
            return lease_clock::time_point::min();
        });
    std::optional<exec_result> got;
    unsigned confirmed = 9;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(replica_connection_test)

BOOST_AUTO_TEST_CASE(without_a_connection_a_request_waits_for_one_as_long_as_it_has_time) {
    asking all;
    all.one->start();
    BOOST_TEST(all.at.eventually([&] { return static_cast<bool>(all.one->why_down().cause); }));
    auto const start = lease_clock::now();
    all.ask(30ms);
    BOOST_TEST(all.at.eventually([&] { return all.got.has_value(); }));
    BOOST_TEST((lease_clock::now() - start >= 30ms));
    BOOST_TEST((all.got->status == exec_status::not_sent));
    BOOST_TEST((all.got->error == errc::unreachable));
    BOOST_TEST(all.confirmed == 0U);
    all.one->stop();
    BOOST_TEST(all.at.ends());
}

BOOST_AUTO_TEST_CASE(one_with_less_time_does_not_wait_for_one_with_more) {
    asking all;
    all.one->start();
    bool late = false;
    all.one->exec(call{example, 10s}, {1, 15s}, [&](exec_result const&, unsigned) { late = true; });
    all.ask(5ms);
    BOOST_TEST(all.at.eventually([&] { return all.got.has_value(); }));
    BOOST_TEST(!late);
    all.one->stop();
    BOOST_TEST(all.at.ends());
    BOOST_TEST(late);
}

BOOST_AUTO_TEST_CASE(a_cause_that_does_not_pass_is_told_at_once) {
    asking all{"/nowhere/ca.crt"};
    all.one->start();
    BOOST_TEST(all.at.eventually([&] { return all.one->why_down().permanent; }));
    auto const start = lease_clock::now();
    all.ask(15s);
    BOOST_TEST(all.at.eventually([&] { return all.got.has_value(); }));
    BOOST_TEST((lease_clock::now() - start < 10s));
    BOOST_TEST((all.got->status == exec_status::not_sent));
    BOOST_TEST((all.got->error == errc::tls_failed));
    all.one->stop();
    BOOST_TEST(all.at.ends());
}

BOOST_AUTO_TEST_CASE(the_stop_answers_what_waits_and_what_comes_later) {
    asking all;
    all.one->start();
    all.ask(15s);
    all.one->stop();
    BOOST_TEST(all.at.eventually([&] { return all.got.has_value(); }));
    BOOST_TEST((all.got->error == errc::client_stopped));
    all.ask(15s);
    BOOST_TEST(all.at.eventually([&] { return all.got.has_value(); }));
    BOOST_TEST((all.got->status == exec_status::not_sent));
    BOOST_TEST(all.at.ends());
}

BOOST_AUTO_TEST_SUITE_END()
