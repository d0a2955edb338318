// The questions about a semaphore: one request each, once there is a connection, and what is made
// of the reply.

#include "client/semaphore_requests.hpp"

#include "protocol/semaphore.hpp"
#include "unit/acquire/acquiring.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <optional>

using holdfast::errc;
using holdfast::error_code;
using holdfast::semaphore_info;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::busy;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;
using namespace holdfast::detail;

namespace {

struct world : scripted_client {
    world() { on = of(1); }

    static std::shared_ptr<target const> of(std::int64_t count) {
        return std::make_shared<target const>(with_permits(make_semaphore_target("", "a"), count));
    }
    void inspect() {
        inspect_semaphore(state, on, [this](error_code ec, semaphore_info found) {
            error = ec;
            info = found;
        });
        run();
    }
    void available() {
        count_available(state, on, [this](error_code ec, std::int64_t count) {
            error = ec;
            free = count;
        });
        run();
    }
    void set(std::int64_t limit) {
        try_set_permits(state, on, limit, [this](error_code ec, bool set_now) {
            error = ec;
            now = set_now;
        });
        inside = inside || error.has_value();
        run();
    }

    std::optional<error_code> error;
    semaphore_info info;
    std::int64_t free = -1;
    bool now = false;
    bool inside = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(semaphore_requests_test)

BOOST_AUTO_TEST_CASE(a_semaphore_is_described) {
    world all;
    acquiring const one{all};
    acquiring const five{all, acquiring_options{.on = world::of(5)}};
    all.answer(busy());
    all.answer(busy());
    all.inspect();
    BOOST_TEST(all.sent() == "semaphore.inspect");
    all.answer(replied(1, 3, 7, 2, 12));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(all.info.limit.value() == 12);
    BOOST_TEST(all.info.available == 3);
    BOOST_TEST(all.info.acquired == 7);
    BOOST_TEST(all.info.waiting == 2U);
    BOOST_TEST(all.info.local_waiters == 2U);
    all.inspect();
    all.answer(replied(0, 0, 0, 1));
    BOOST_TEST(!all.info.limit.has_value());
    all.inspect();
    all.answer(replied(2));
    BOOST_TEST((all.error == errc::corrupt_state));
}

BOOST_AUTO_TEST_CASE(free_permits_are_counted) {
    world all;
    all.available();
    all.answer(replied(1, 3, 7, 2));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(all.free == 3);
    all.available();
    all.answer(replied(2));
    BOOST_TEST((all.error == errc::corrupt_state));
    all.available();
    all.answer(unanswered());
    BOOST_TEST((all.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(the_limit_is_set_once) {
    world all;
    all.set(3);
    BOOST_TEST(all.sent() == "semaphore.set_permits");
    all.answer(replied(1));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(all.now);
    all.set(3);
    all.answer(replied(0));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(!all.now);
    all.set(4);
    all.answer(replied(3));
    BOOST_TEST((all.error == errc::limit_mismatch));
    all.set(4);
    all.answer(replied(2));
    BOOST_TEST((all.error == errc::corrupt_state));
}

BOOST_AUTO_TEST_CASE(a_limit_that_cannot_be_is_refused_without_a_request) {
    world all;
    for (std::int64_t const wrong : {std::int64_t{0}, std::int64_t{-1}, greatest_limit + 1}) {
        all.error.reset();
        all.set(wrong);
        BOOST_TEST((all.error == errc::invalid_options));
    }
    BOOST_TEST(!all.inside);
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_SUITE_END()
