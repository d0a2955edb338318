// The operators' questions: one request each, once there is a connection, and what is made of the
// reply.

#include "client/inspect.hpp"

#include "unit/acquire/acquiring.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using namespace std::string_literals;
namespace asio = boost::asio;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::lock_info;
using holdfast::detail::exec_status;
using holdfast::detail::make_lock_target;
using holdfast::detail::target;
using holdfast::test::acquiring;
using holdfast::test::busy;
using holdfast::test::failed;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

struct world : scripted_client {
    using scripted_client::scripted_client;

    void inspect() { inspect(on); }
    void inspect(std::shared_ptr<target const> which) {
        auto handler = [this](error_code ec, lock_info found) {
            error = ec;
            info = std::move(found);
        };
        holdfast::detail::inspect(
            state,
            std::move(which),
            asio::bind_cancellation_slot(signal.slot(), handler)
        );
        inside = inside || error.has_value();
        run();
    }
    void force_release() {
        holdfast::detail::force_release(state, on, [this](error_code ec, bool was_held) {
            error = ec;
            freed = was_held;
        });
        inside = inside || error.has_value();
        run();
    }

    asio::cancellation_signal signal;
    std::optional<error_code> error;
    lock_info info;
    bool freed = false;
    bool inside = false;
};

std::shared_ptr<target const> nameless() {
    return std::make_shared<target const>(make_lock_target("", ""));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inspect_test)

BOOST_AUTO_TEST_CASE(a_lock_that_is_held_is_described) {
    world all;
    acquiring const waiting{all};
    all.answer(busy());
    all.inspect();
    BOOST_TEST(all.sent() == "inspect");
    all.answer(replied(250, 42, 3, 2, "someone:1"));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(!all.inside);
    BOOST_TEST(all.info.held);
    BOOST_TEST(!all.info.never_expires);
    BOOST_TEST((all.info.remaining == 250ms));
    BOOST_TEST(all.info.holder == "someone:1");
    BOOST_TEST(all.info.hold_count == 2U);
    BOOST_TEST((all.info.last_token == fencing_token{42}));
    BOOST_TEST(all.info.local_waiters == 1U);
    BOOST_TEST(all.info.waiting_clients == 3U);
}

BOOST_AUTO_TEST_CASE(a_lock_that_never_expires_or_is_free_is_described) {
    world all;
    all.inspect();
    all.answer(replied(-1, 0, 1, "someone:1"));
    BOOST_TEST(all.info.held);
    BOOST_TEST(all.info.never_expires);
    BOOST_TEST(!all.info.remaining.has_value());
    all.inspect();
    all.answer(replied(-2, 7));
    BOOST_TEST(!all.info.held);
    BOOST_TEST(!all.info.never_expires);
    BOOST_TEST((all.info.last_token == fencing_token{7}));
}

BOOST_AUTO_TEST_CASE(what_is_no_lock_is_corrupt) {
    world all;
    all.inspect();
    all.answer(replied(-3));
    BOOST_TEST((all.error == errc::corrupt_state));
    all.force_release();
    all.answer(replied(2));
    BOOST_TEST((all.error == errc::corrupt_state));
}

BOOST_AUTO_TEST_CASE(without_a_reply_they_end_with_the_cause) {
    world all;
    all.inspect();
    all.answer(unanswered());
    BOOST_TEST((all.error == errc::unreachable));
    all.inspect();
    all.answer(failed(errc::no_permission));
    BOOST_TEST((all.error == errc::no_permission));
    all.force_release();
    all.answer(failed({}, exec_status::unknown));
    BOOST_TEST((all.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(they_wait_for_a_connection) {
    world all{config{}, false};
    all.inspect();
    BOOST_TEST(!all.error.has_value());
    all.set_commands_up(true);
    BOOST_TEST(all.sent() == "inspect");
    all.set_commands_up(false);
    all.fail(errc::auth_failed);
    all.force_release();
    BOOST_TEST((all.error == errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(they_can_be_cancelled) {
    world all;
    all.inspect();
    all.signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST((all.error == asio::error::operation_aborted));
    all.error.reset();
    all.answer(replied(-2, 0));
    BOOST_TEST(!all.error.has_value());
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_allowed_and_a_stopped_client_are_reported_later) {
    world all;
    all.inspect(nameless());
    BOOST_TEST((all.error == errc::invalid_name));
    all.error.reset();
    all.state->abandon();
    all.inspect();
    BOOST_TEST((all.error == errc::client_stopped));
    BOOST_TEST(!all.inside);
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(a_forced_release_says_whether_the_lock_was_held_and_wakes_our_waiters) {
    world all;
    acquiring const waiting{all};
    all.answer(busy());
    all.force_release();
    all.answer(replied(0));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(!all.freed);
    BOOST_TEST(all.sent().empty());
    all.force_release();
    all.answer(replied(1, 1));
    BOOST_TEST(all.freed);
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_SUITE_END()
