// What becomes of the elections of a client when its connections come and go, and which of them.

#include "client/elections.hpp"

#include "client/mandate.hpp"
#include "client/observation.hpp"
#include "unit/client/electing.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::leader_info;
using holdfast::detail::mandate;
using holdfast::detail::observation;
using holdfast::detail::target;
using holdfast::test::campaigning;
using holdfast::test::electing;

namespace {

struct world : electing {
    world() : observes{std::make_shared<observation>(state, keys)} {
        observes->next([this](error_code ec, leader_info const&) { error = ec; });
        run();
        answer(nobody());
    }
    // Renewals and questions about the lock.
    void drop_others() {
        std::erase_if(server->requests, [](auto const& one) {
            return !one.what.what().name.starts_with("election.");
        });
    }

    std::shared_ptr<observation> observes;
    error_code error;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(elections_test)

BOOST_AUTO_TEST_CASE(a_leader_sends_its_value_again_when_a_connection_was_made) {
    world all;
    campaigning one{all, "my value"};
    all.answer(holdfast::test::granted(7));
    all.answer(electing::proclaimed());
    BOOST_TEST(one.won.valid());
    all.set_commands_up(false);
    all.set_commands_up(true);
    all.drop_others();
    BOOST_TEST(all.sent() == "election.proclaim");
    BOOST_TEST(all.word(4) == "1");
    BOOST_TEST(all.word(6) == "my value");
    all.answer(electing::proclaimed());
    // One that has resigned does not.
    one.won.resign([](error_code) {});
    all.run();
    all.server->requests.clear();
    all.set_commands_up(false);
    all.set_commands_up(true);
    all.drop_others();
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(only_those_are_told_that_are_concerned) {
    world all;
    error_code other_error;
    all.observes->next([&](error_code ec, leader_info const&) { other_error = ec; });
    all.run();
    auto const nobody = [](target const&) { return false; };
    all.on_strand([&] { all.state->electing().observers().end_all(errc::auth_failed, nobody); });
    BOOST_TEST(!other_error);
    auto const this_one = [](target const& one) { return one.lock == "a"; };
    all.on_strand([&] { all.state->electing().observers().end_all(errc::auth_failed, this_one); });
    BOOST_TEST((other_error == errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(those_that_are_gone_are_forgotten) {
    world all;
    std::weak_ptr<observation> const watched = all.observes;
    all.observes->abandon();
    all.observes.reset();
    all.run();
    BOOST_TEST(watched.expired());
    all.set_commands_up(false);
    all.set_commands_up(true);
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(those_that_wait_end_with_the_context) {
    auto observes = [] {
        world all;
        all.observes->next([keeps = all.observes](error_code, leader_info const&) {});
        all.run();
        return std::weak_ptr{all.observes};
    }();
    // A handler that kept its observer has let it go.
    BOOST_TEST(observes.expired());
}

BOOST_AUTO_TEST_SUITE_END()
