// What a leader proclaims: each value with a number of its own, and the newest one once more when
// it is asked for.

#include "client/mandate.hpp"

#include "unit/client/electing.hpp"
#include "unit/printers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::election_keys;
using holdfast::detail::mandate;
using holdfast::detail::start_proclaim;
using holdfast::test::electing;

namespace {

struct world : electing {
    explicit world(holdfast::config settings = quick())
        : electing{std::move(settings)},
          leads{std::make_shared<mandate>(
              state,
              keys,
              state->holder_id_of(5),
              holdfast::fencing_token{7}
          )} {}

    void proclaim(std::string value) {
        error.reset();
        start_proclaim(
            leads,
            std::move(value),
            asio::bind_cancellation_slot(signal.slot(), [this](error_code ec) { error = ec; })
        );
        run();
    }
    void again() {
        on_strand([this] { leads->proclaim_again(); });
    }

    std::shared_ptr<mandate> leads;
    std::optional<error_code> error;
    asio::cancellation_signal signal;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(mandate_test)

BOOST_AUTO_TEST_CASE(each_value_has_a_number_of_its_own) {
    world all;
    all.proclaim("one");
    BOOST_TEST(all.word(2) == all.state->holder_id_of(5).view());
    BOOST_TEST(all.word(3) == "7");
    BOOST_TEST(all.word(4) == "1");
    BOOST_TEST(all.word(5) == "2592000000");
    BOOST_TEST(all.word(6) == "one");
    all.answer(electing::proclaimed());
    BOOST_TEST((all.error == error_code{}));
    all.proclaim("two");
    BOOST_TEST(all.word(4) == "2");
    BOOST_TEST(all.word(6) == "two");
}

BOOST_AUTO_TEST_CASE(a_repetition_says_what_was_said_first) {
    world all;
    all.proclaim("one");
    all.answer(holdfast::test::unanswered());
    all.proclaim("two");
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 2; }));
    // A millisecond passes before a repetition: either may be sent first.
    std::map<std::string, std::string> values;
    for (int i = 0; i != 2; ++i) {
        values[all.word(4)] = all.word(6);
        all.answer(electing::proclaimed());
    }
    BOOST_TEST(values.size() == 2U);
    BOOST_TEST(values["1"] == "one");
    BOOST_TEST(values["2"] == "two");
}

BOOST_AUTO_TEST_CASE(asked_for_again_the_newest_value_is_sent_with_its_number) {
    world all;
    all.again();
    BOOST_TEST(all.sent() == "");
    all.proclaim("one");
    all.answer(electing::proclaimed());
    all.proclaim("two");
    all.answer(electing::proclaimed());
    all.again();
    BOOST_TEST(all.sent() == "election.proclaim");
    BOOST_TEST(all.word(4) == "2");
    BOOST_TEST(all.word(6) == "two");
    all.answer(electing::not_leader());
}

BOOST_AUTO_TEST_CASE(what_the_answers_mean) {
    world all;
    all.proclaim("one");
    all.answer(electing::not_leader());
    BOOST_TEST((all.error == errc::lease_lost));
    all.proclaim("one");
    all.answer(holdfast::test::replied(2));
    BOOST_TEST((all.error == errc::corrupt_state));
    all.proclaim("one");
    // The user may not publish.
    all.answer(holdfast::test::replied(1, 0));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(all.count().refused_notifications == 1U);
    BOOST_TEST(all.log.count(holdfast::log_level::error, "+publish, &holdfast_leader:{") == 1U);
    all.proclaim(std::string(election_keys::longest_value + 1, 'x'));
    BOOST_TEST((all.error == errc::invalid_options));
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(cancelled_it_goes_on) {
    for (auto const type : {asio::cancellation_type::total, asio::cancellation_type::terminal}) {
        world all;
        all.proclaim("one");
        all.signal.emit(type);
        all.run();
        BOOST_TEST((all.error == asio::error::operation_aborted));
        BOOST_TEST(all.sent() == "election.proclaim");
        all.answer(electing::proclaimed());
    }
}

BOOST_AUTO_TEST_SUITE_END()
