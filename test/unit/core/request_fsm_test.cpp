// When a request is sent again, and what its caller is told when it is not.

#include "core/request_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::nanos;
using holdfast::detail::request_fsm;
using holdfast::detail::time_point;
using failure = holdfast::detail::request_fsm::failure;

namespace {

time_point const t0{100s};

request_fsm change() {
    return request_fsm{{t0 + 10s, true, 50ms, 2s}};
}
request_fsm question() {
    return request_fsm{{t0, false, 50ms, 2s}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(request_fsm_test)

BOOST_AUTO_TEST_CASE(a_change_is_sent_again_until_its_time_is_over) {
    auto fsm = change();
    BOOST_TEST(!fsm.on_failure(failure::refused, errc::server_refused, t0 + 1s).has_value());
    BOOST_TEST(!fsm.on_failure(failure::refused, errc::unreachable, t0 + 9s).has_value());
    BOOST_TEST(
        (fsm.on_failure(failure::refused, errc::server_refused, t0 + 10s) == errc::server_refused)
    );
    BOOST_TEST(fsm.sure());
}

BOOST_AUTO_TEST_CASE(one_that_was_not_answered_may_have_been_executed) {
    auto fsm = change();
    BOOST_TEST(!fsm.on_failure(failure::unknown, errc::unreachable, t0 + 1s).has_value());
    BOOST_TEST(!fsm.sure());
    BOOST_TEST(
        (fsm.on_failure(failure::refused, errc::server_refused, t0 + 10s) == errc::release_unknown)
    );
    auto ended = change();
    BOOST_TEST(!ended.on_failure(failure::unknown, {}, t0).has_value());
    BOOST_TEST((ended.on_failure(failure::failed, errc::auth_failed, t0) == errc::release_unknown));
}

BOOST_AUTO_TEST_CASE(what_somebody_has_to_mend_ends_it_at_once) {
    auto fsm = change();
    BOOST_TEST((fsm.on_failure(failure::failed, errc::no_permission, t0) == errc::no_permission));
}

BOOST_AUTO_TEST_CASE(a_question_is_asked_once) {
    auto fsm = question();
    BOOST_TEST((fsm.on_failure(failure::unknown, {}, t0) == errc::unreachable));
    auto refused = question();
    BOOST_TEST(
        (refused.on_failure(failure::refused, errc::server_refused, t0) == errc::server_refused)
    );
}

BOOST_AUTO_TEST_CASE(its_pauses_grow) {
    auto fsm = change();
    BOOST_TEST((fsm.pause(0.5) == 25ms));
    BOOST_TEST((fsm.pause(0.5) == 50ms));
    for (int i = 0; i < 20; ++i) {
        BOOST_TEST((fsm.pause(0.5) <= 1s));
    }
}

BOOST_AUTO_TEST_SUITE_END()
