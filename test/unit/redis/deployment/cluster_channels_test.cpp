// Channels that go with their slots from server to server.

#include "redis/deployment/cluster_channels.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <map>
#include <optional>
#include <string>

using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::channels;
using holdfast::detail::cluster_channels;
using holdfast::detail::subscriber;
using holdfast::detail::subscription;

namespace {

struct listener final : subscriber {
    explicit listener(std::string& to) : said{to} {}
    void on_confirmed(bool again) override { said += again ? "again " : "confirmed "; }
    void on_unconfirmed() override { said += "unconfirmed "; }
    void on_refused(error_code) override {
        said += "refused ";
        held = {};
    }
    void on_notification(std::string_view message) override { (said += message) += " "; }

    std::string& said;
    subscription held;
};

// Servers 0 and 1: what each is asked for is noted as "+0:a" and "-0:a".
struct world {
    struct server_channels {
        explicit server_channels(world& all, std::string number)
            : of{std::make_shared<channels>(channels::actions{
                  .subscribe = [&all, number](std::string const& channel
                               ) { all.asked += "+" + number + ":" + channel + " "; },
                  .unsubscribe = [&all, number](std::string const& channel
                                 ) { all.asked += "-" + number + ":" + channel + " "; },
                  .later = [&all](std::function<void()> f) { all.later.push_back(std::move(f)); },
              })} {}
        std::shared_ptr<channels> of;
    };

    void run() {
        while (!later.empty()) {
            auto const next = std::move(later.front());
            later.pop_front();
            next();
        }
    }
    channels& server(std::uint32_t number) { return *(number == 0 ? zero : one).of; }

    std::string asked;
    std::string said;
    std::deque<std::function<void()>> later;
    std::map<std::string, std::uint32_t, std::less<>> owners;
    server_channels zero{*this, "0"};
    server_channels one{*this, "1"};
    cluster_channels all{{
        .server_of = [this](std::string_view channel) -> std::optional<std::uint32_t> {
            auto const at = owners.find(channel);
            return at == owners.end() ? std::nullopt : std::optional{at->second};
        },
        .subscribe =
            [this](std::uint32_t number, std::string channel, subscriber& to) {
                return server(number).add(std::move(channel), to);
            },
        .later = [this](std::function<void()> f) { later.push_back(std::move(f)); },
    }};
    listener a{said};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cluster_channels_test, world)

BOOST_AUTO_TEST_CASE(a_channel_is_subscribed_to_where_its_slot_is) {
    owners = {{"a", 1}};
    a.held = all.add("a", a);
    BOOST_TEST(asked == "+1:a ");
    server(1).on_confirmed("a");
    server(1).on_notification("a", "hello");
    BOOST_TEST(said == "confirmed hello ");
    a.held = {};
    BOOST_TEST(asked == "+1:a -1:a ");
}

BOOST_AUTO_TEST_CASE(before_the_slots_are_known_it_waits) {
    a.held = all.add("a", a);
    BOOST_TEST(asked == "");
    owners = {{"a", 0}};
    all.go_after_slots();
    all.go_after_slots();
    BOOST_TEST(asked == "+0:a ");
}

BOOST_AUTO_TEST_CASE(it_goes_with_its_slot_and_is_unconfirmed_until_the_other_server_has_it) {
    owners = {{"a", 0}};
    a.held = all.add("a", a);
    server(0).on_confirmed("a");
    owners = {{"a", 1}};
    all.go_after_slots();
    BOOST_TEST(asked == "+0:a -0:a +1:a ");
    BOOST_TEST(said == "confirmed unconfirmed ");
    server(0).on_notification("a", "late");
    server(1).on_confirmed("a");
    BOOST_TEST(said == "confirmed unconfirmed again ");
}

BOOST_AUTO_TEST_CASE(those_of_a_lock_go_in_the_order_of_their_names) {
    owners = {
        {"holdfast_client:{l}:1", 0},
        {"holdfast_waiters:{l}", 0},
        {"redisson_lock__channel:{l}", 0}
    };
    listener b{said};
    listener c{said};
    c.held = all.add("redisson_lock__channel:{l}", c);
    b.held = all.add("holdfast_waiters:{l}", b);
    a.held = all.add("holdfast_client:{l}:1", a);
    asked.clear();
    for (auto& [channel, owner] : owners) {
        owner = 1;
    }
    all.go_after_slots();
    BOOST_TEST(
        asked ==
        "-0:holdfast_client:{l}:1 +1:holdfast_client:{l}:1 -0:holdfast_waiters:{l} "
        "+1:holdfast_waiters:{l} -0:redisson_lock__channel:{l} "
        "+1:redisson_lock__channel:{l} "
    );
}

BOOST_AUTO_TEST_CASE(one_that_its_server_has_withdrawn_is_subscribed_to_again_wherever_that_is) {
    owners = {{"a", 0}};
    a.held = all.add("a", a);
    all.on_withdrawn(1, "a");
    all.on_withdrawn(0, "other");
    all.go_after_slots();
    BOOST_TEST(asked == "+0:a ");
    all.on_withdrawn(0, "a");
    all.go_after_slots();
    BOOST_TEST(asked == "+0:a -0:a +0:a ");
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_and_the_channel_can_be_wanted_again) {
    owners = {{"a", 0}};
    a.held = all.add("a", a);
    server(0).on_refused("a", errc::no_permission);
    BOOST_TEST(said == "refused ");
    a.held = all.add("a", a);
    BOOST_TEST(asked == "+0:a +0:a ");
}

BOOST_AUTO_TEST_CASE(who_is_told_may_let_go) {
    struct quitter final : subscriber {
        void on_confirmed(bool) override {}
        void on_unconfirmed() override { held = {}; }
        void on_refused(error_code) override {}
        void on_notification(std::string_view) override {}
        subscription held;
    } one_who_goes;
    owners = {{"a", 0}};
    one_who_goes.held = all.add("a", one_who_goes);
    server(0).on_confirmed("a");
    owners = {{"a", 1}};
    all.go_after_slots();
    BOOST_TEST(asked == "+0:a -0:a ");
}

BOOST_AUTO_TEST_CASE(after_the_end_nobody_is_told) {
    owners = {{"a", 0}};
    a.held = all.add("a", a);
    all.stop();
    server(0).on_confirmed("a");
    BOOST_TEST(said == "");
}

BOOST_AUTO_TEST_SUITE_END()
