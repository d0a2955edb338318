// The operators' questions: one request each, once there is a connection, and what they end with if
// there is no reply.

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
using holdfast::lock_info;
using holdfast::detail::exec_status;
using holdfast::detail::target;
using holdfast::test::failed;
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

}  // namespace

BOOST_AUTO_TEST_SUITE(inspect_test)

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

BOOST_AUTO_TEST_SUITE_END()
