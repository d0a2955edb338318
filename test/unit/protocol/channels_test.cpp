// Who listens to which channel: one SUBSCRIBE for all, each told what it has to know, and nothing
// to those who have gone, not even while others are told.

#include "protocol/channels.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace std::string_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::channels;
using holdfast::detail::subscriber;
using holdfast::detail::subscription;

namespace {

struct listener final : subscriber {
    void on_confirmed(bool again) override { note(again ? "again " : "confirmed "); }
    void on_unconfirmed() override { note("unconfirmed "); }
    void on_refused(error_code cause) override { note("refused:" + cause.message() + " "); }
    void on_notification(std::string_view) override { note("notified "); }

    void note(std::string const& what) {
        heard += what;
        if (then) {
            then();
        }
    }

    std::string heard;
    std::function<void()> then;
    subscription part;
};

// A connection that only writes down what it is asked for.
struct world {
    std::string asked;
    std::deque<std::function<void()>> turns;
    std::shared_ptr<channels> all = std::make_shared<channels>(channels::actions{
        .subscribe = [this](std::string const& channel) { asked += "+" + channel + " "; },
        .unsubscribe = [this](std::string const& channel) { asked += "-" + channel + " "; },
        .later = [this](std::function<void()> f) { turns.push_back(std::move(f)); },
    });

    void run() {
        for (; !turns.empty(); turns.pop_front()) {
            turns.front()();
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(channels_test)

BOOST_AUTO_TEST_CASE(one_subscription_serves_all_and_ends_with_the_last) {
    world on;
    listener a;
    listener b;
    a.part = on.all->add("c", a);
    b.part = on.all->add("c", b);
    BOOST_TEST(on.asked == "+c ");
    BOOST_TEST(on.all->wanted("c"));
    on.all->on_confirmed("c");
    on.all->on_notification("c", "0");
    BOOST_TEST(a.heard == "confirmed notified ");
    BOOST_TEST(b.heard == "confirmed notified ");
    a.part = {};
    BOOST_TEST(on.asked == "+c ");
    b.part = {};
    BOOST_TEST(on.asked == "+c -c ");
    BOOST_TEST(!on.all->wanted("c"));
    BOOST_TEST(on.all->size() == 0U);
}

BOOST_AUTO_TEST_CASE(channels_do_not_mix) {
    world on;
    listener a;
    listener b;
    a.part = on.all->add("a", a);
    b.part = on.all->add("b", b);
    BOOST_TEST((on.all->names() == std::vector{"a"s, "b"s}));
    on.all->on_notification("a", "0");
    on.all->on_confirmed("b");
    // What nobody wants any more.
    on.all->on_notification("c", "0");
    on.all->on_confirmed("c");
    on.all->on_refused("c", errc::no_permission);
    BOOST_TEST(a.heard == "notified ");
    BOOST_TEST(b.heard == "confirmed ");
}

BOOST_AUTO_TEST_CASE(who_joins_a_confirmed_channel_is_told_once_and_later) {
    world on;
    listener first;
    listener late;
    first.part = on.all->add("c", first);
    on.all->on_confirmed("c");
    late.part = on.all->add("c", late);
    BOOST_TEST(late.heard.empty());
    on.run();
    BOOST_TEST(late.heard == "confirmed ");
    BOOST_TEST(first.heard == "confirmed ");
}

BOOST_AUTO_TEST_CASE(who_joined_and_has_gone_or_was_told_otherwise_is_not_told_late) {
    world on;
    listener first;
    listener gone;
    listener told;
    first.part = on.all->add("c", first);
    on.all->on_confirmed("c");
    gone.part = on.all->add("c", gone);
    told.part = on.all->add("c", told);
    gone.part = {};
    on.all->on_confirmed("c");
    on.run();
    BOOST_TEST(gone.heard.empty());
    BOOST_TEST(told.heard == "again ");

    listener down;
    down.part = on.all->add("c", down);
    on.all->on_down();
    on.run();
    BOOST_TEST(down.heard == "unconfirmed ");
}

BOOST_AUTO_TEST_CASE(after_a_reconnection_the_channel_is_confirmed_again) {
    world on;
    listener a;
    a.part = on.all->add("c", a);
    on.all->on_confirmed("c");
    on.all->on_down();
    on.all->on_confirmed("c");
    BOOST_TEST(a.heard == "confirmed unconfirmed again ");
    // A new subscription of the channel begins anew.
    a.part = {};
    a.part = on.all->add("c", a);
    on.all->on_confirmed("c");
    BOOST_TEST(a.heard == "confirmed unconfirmed again confirmed ");
}

BOOST_AUTO_TEST_CASE(a_refused_channel_is_forgotten_and_not_unsubscribed) {
    world on;
    listener a;
    listener b;
    a.part = on.all->add("c", a);
    b.part = on.all->add("c", b);
    error_code const cause = errc::no_permission;
    on.all->on_refused("c", cause);
    BOOST_TEST(a.heard == "refused:" + cause.message() + " ");
    BOOST_TEST(b.heard == a.heard);
    BOOST_TEST(!on.all->wanted("c"));
    a.part = {};
    b.part = {};
    BOOST_TEST(on.asked == "+c ");
}

BOOST_AUTO_TEST_CASE(a_refused_subscriber_may_ask_again_at_once) {
    world on;
    listener a;
    a.part = on.all->add("c", a);
    a.then = [&] {
        a.then = {};
        a.part = on.all->add("c", a);
    };
    on.all->on_refused("c", errc::no_permission);
    BOOST_TEST(on.asked == "+c +c ");
    on.all->on_confirmed("c");
    BOOST_TEST(a.heard.ends_with("confirmed "));
}

BOOST_AUTO_TEST_CASE(subscribers_may_go_while_others_are_told) {
    for (bool const down : {false, true}) {
        world on;
        listener first;
        listener second;
        listener elsewhere;
        first.part = on.all->add("c", first);
        second.part = on.all->add("c", second);
        elsewhere.part = on.all->add("d", elsewhere);
        first.then = [&] {
            first.part = {};
            second.part = {};
            elsewhere.part = {};
        };
        if (down) {
            on.all->on_down();
        } else {
            on.all->on_notification("c", "0");
        }
        BOOST_TEST(!first.heard.empty());
        BOOST_TEST(second.heard.empty());
        BOOST_TEST(elsewhere.heard.empty());
        BOOST_TEST(on.all->size() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(after_the_stop_nobody_is_told_and_nothing_is_asked_for) {
    world on;
    listener a;
    a.part = on.all->add("c", a);
    on.all->on_confirmed("c");
    listener late;
    late.part = on.all->add("c", late);
    on.all->stop();
    on.all->on_notification("c", "0");
    on.run();
    BOOST_TEST(late.heard.empty());
    a.part = {};
    BOOST_TEST(a.heard == "confirmed ");
    BOOST_TEST(on.asked == "+c ");
}

BOOST_AUTO_TEST_CASE(subscriptions_may_outlive_the_registry) {
    world on;
    listener a;
    a.part = on.all->add("c", a);
    on.all.reset();
    a.part = {};
    BOOST_TEST(on.asked == "+c ");
}

BOOST_AUTO_TEST_CASE(one_channel_alone_may_be_unconfirmed) {
    world on;
    listener a;
    a.part = on.all->add("c", a);
    listener b;
    b.part = on.all->add("d", b);
    on.all->on_confirmed("c");
    on.all->on_confirmed("d");
    auto const before = b.heard;
    on.all->on_unconfirmed("c");
    on.all->on_unconfirmed("other");
    BOOST_TEST(a.heard == "confirmed unconfirmed ");
    BOOST_TEST(b.heard == before);
    on.all->on_confirmed("c");
    BOOST_TEST(a.heard == "confirmed unconfirmed again ");
}

BOOST_AUTO_TEST_SUITE_END()
