// The line of a client's operations that wait for the same quorum.

#include "acquire/quorum_line.hpp"

#include "unit/acquire/quorum_acquiring.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::quorum_line;
using holdfast::detail::quorum_lines;
using holdfast::detail::quorum_waiter;
using holdfast::test::long_terms;
using holdfast::test::scripted_nodes;

namespace {

struct waiter final : quorum_waiter {
    void on_turn() override { heard += "turn "; }
    void on_news(std::size_t node) override { heard += std::to_string(node) + " "; }
    void on_newcomer(bool brief) override { heard += brief ? "brief " : "newcomer "; }
    void on_busy() override { heard += "busy "; }
    void on_ended(error_code cause) override { ended = cause; }

    std::string heard;
    error_code ended;
};

struct line_of_three : scripted_nodes {
    line_of_three() {
        lead().on_strand([&] { line = lines.of(nodes(long_terms())); });
    }
    quorum_line::place enter(std::shared_ptr<waiter> const& who) {
        quorum_line::place at;
        lead().on_strand([&] { at = line->enter(who); });
        return at;
    }
    void leave(quorum_line::place at) {
        lead().on_strand([&] { line->leave(at); });
        run();
    }
    void listen() {
        lead().on_strand([&] { line->listen(nodes(long_terms())); });
        run();
    }
    void refuse_to_tell(std::size_t i, errc cause) {
        all[i].on_strand([&] { all[i].server->listeners->on_refused(on->channel(), cause); });
        run();
    }

    quorum_lines lines;
    std::shared_ptr<quorum_line> line;
    std::shared_ptr<waiter> first = std::make_shared<waiter>();
    std::shared_ptr<waiter> second = std::make_shared<waiter>();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_line_test)

BOOST_AUTO_TEST_CASE(the_next_one_has_its_turn_when_the_first_goes) {
    line_of_three all;
    auto const one = all.enter(all.first);
    auto const two = all.enter(all.second);
    BOOST_TEST(all.line->is_first(one));
    BOOST_TEST(!all.line->is_first(two));
    BOOST_TEST(all.line->size() == 2U);
    all.leave(one);
    BOOST_TEST(all.second->heard == "turn ");
    BOOST_TEST(all.first.use_count() == 1);

    auto const again = all.enter(all.first);
    all.leave(again);
    BOOST_TEST(all.second->heard == "turn ");
    all.leave(two);
}

BOOST_AUTO_TEST_CASE(the_first_one_hears_of_each_node_as_long_as_somebody_waits) {
    line_of_three all;
    auto const one = all.enter(all.first);
    auto const two = all.enter(all.second);
    all.listen();
    all.listen();
    BOOST_TEST(all[2].server->subscribed == "+redisson_lock__channel:{a}");
    BOOST_TEST(!all.line->hears());
    all.confirm(1);
    all.confirm(2);
    BOOST_TEST(all.line->hears());
    all.notify(2);
    BOOST_TEST(all.first->heard == "1 2 2 ");
    BOOST_TEST(all.second->heard.empty());
    all.leave(one);
    all.notify(0);
    BOOST_TEST(all.second->heard == "turn 0 ");
    all.leave(two);
    BOOST_TEST(all[2].server->subscribed.ends_with("-redisson_lock__channel:{a}"));
}

BOOST_AUTO_TEST_CASE(what_the_first_one_finds_counts_for_those_that_came_before_its_round) {
    line_of_three all;
    auto const one = all.enter(all.first);
    auto const two = all.enter(all.second);
    all.lead().on_strand([&] {
        auto& line = *all.line;
        auto const now = holdfast::lease_clock::now();
        BOOST_TEST(!line.asked_since(now));
        BOOST_TEST(!line.busy_since(now));
        line.ask_again(true);
        line.ask_again(false);
        line.on_overdue(all.second);
        line.on_round(now);
        BOOST_TEST(line.asked_since(now));
        BOOST_TEST(!line.busy_since(now));
        line.on_round_over(true, now);
        BOOST_TEST(line.busy_since(now));
        BOOST_TEST(!line.busy_since(now + 1ns));
        line.on_round_over(true, now);  // whoever was told has gone, or says so again
        line.on_overdue(all.second);
        line.on_round(now + 1s);
        line.on_round_over(false, now + 1s);  // it has decided nothing
        BOOST_TEST(line.busy_since(now));
        BOOST_TEST(!line.busy_since(now + 1s));
        line.on_round(now + 3s);
        // That of an owner, which began before and does not stand in line.
        line.on_round_over(true, now + 2s);
        BOOST_TEST(line.busy_since(now + 2s));
        BOOST_TEST(!line.busy_since(now + 3s));
    });
    BOOST_TEST(all.first->heard == "brief newcomer ");
    BOOST_TEST(all.second->heard == "busy busy ");
    all.leave(one);
    all.leave(two);
}

BOOST_AUTO_TEST_CASE(channels_that_are_refused_end_it_when_too_few_are_left) {
    line_of_three all;
    auto const one = all.enter(all.first);
    all.listen();
    all.refuse_to_tell(0, errc::no_permission);
    BOOST_TEST(!all.first->ended);
    all.refuse_to_tell(1, errc::no_permission);
    BOOST_TEST((all.first->ended == errc::no_permission));
    all.leave(one);
}

BOOST_AUTO_TEST_CASE(a_line_belongs_to_one_quorum) {
    line_of_three all;
    all.lead().on_strand([&] {
        auto nodes = all.nodes(long_terms());
        BOOST_TEST((all.lines.of(nodes) == all.line));
        nodes.pop_back();
        BOOST_TEST((all.lines.of(nodes) != all.line));
    });
}

BOOST_AUTO_TEST_CASE(operations_of_an_owner_are_told_that_he_has_the_lock_wherever_they_stand) {
    line_of_three all;
    auto const me = holdfast::owner::make();
    auto const another = holdfast::owner::make();
    auto const one = all.enter(all.first);
    all.lead().on_strand([&] {
        all.line->note_owner(another, all.first);
        all.line->note_owner(me, all.second);
        all.line->note_owner(me, std::make_shared<waiter>());  // it has gone
        all.line->on_grant_to(me, {});
        BOOST_TEST(!all.line->has_lock(me));  // that lease is over
    });
    BOOST_TEST(all.first->heard.empty());
    BOOST_TEST(all.second->heard == "brief ");
    all.leave(one);
}

BOOST_AUTO_TEST_CASE(lines_that_are_over_are_forgotten) {
    line_of_three all;
    all.lead().on_strand([&] {
        auto const nodes = all.nodes(long_terms());
        for (int i = 0; i < 1'000; ++i) {
            auto others = nodes;
            auto const name = std::to_string(i);
            others.front().on = std::make_shared<holdfast::detail::target const>(
                holdfast::detail::make_quorum_lock_target("", name)
            );
            static_cast<void>(all.lines.of(others));
        }
        BOOST_TEST(all.lines.size() <= 64U);
        BOOST_TEST((all.lines.of(nodes) == all.line));
    });
}

BOOST_AUTO_TEST_CASE(all_are_ended_and_forgotten_with_the_client) {
    line_of_three all;
    auto const one = all.enter(all.first);
    all.enter(all.second);
    all.listen();
    auto const outside = std::make_shared<waiter>();
    all.lead().on_strand([&] {
        all.line->note_owner(holdfast::owner::make(), outside);
        all.lines.end_all(errc::client_stopped);
    });
    BOOST_TEST((all.first->ended == errc::client_stopped));
    BOOST_TEST((all.second->ended == errc::client_stopped));
    BOOST_TEST((outside->ended == errc::client_stopped));
    all.lead().on_strand([&] { all.lines.clear(); });
    all.run();
    BOOST_TEST(all.first.use_count() == 1);
    BOOST_TEST(all[1].server->subscribed.ends_with("-redisson_lock__channel:{a}"));
    all.leave(one);  // it is over already
}

BOOST_AUTO_TEST_SUITE_END()
