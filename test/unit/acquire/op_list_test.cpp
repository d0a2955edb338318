// The list owns what stands in it, in the order of arrival.

#include "acquire/op_list.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

using holdfast::detail::acquire_op;
using holdfast::detail::list_place;
using holdfast::detail::op_list;

namespace {

// Stands for an acquisition, which the list only keeps.
struct element : list_place {
    std::function<void()> on_end;

    ~element() {
        if (on_end) {
            on_end();
        }
    }
};

std::shared_ptr<acquire_op> as_op(std::shared_ptr<element> const& of) {
    return {of, reinterpret_cast<acquire_op*>(of.get())};
}

bool is(std::shared_ptr<acquire_op> const& op, std::shared_ptr<element> const& of) {
    return op == as_op(of);
}

struct three {
    std::shared_ptr<element> const a = std::make_shared<element>();
    std::shared_ptr<element> const b = std::make_shared<element>();
    std::shared_ptr<element> const c = std::make_shared<element>();
    op_list all;

    three() {
        for (auto const& each : {a, b, c}) {
            all.push_back(*each, as_op(each));
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(op_list_)

BOOST_FIXTURE_TEST_CASE(they_stand_in_the_order_of_their_arrival, three) {
    BOOST_TEST(all.size() == 3U);
    for (auto const& each : {a, b, c}) {
        BOOST_TEST(is(all.front(), each));
        BOOST_TEST(is(all.remove(*each), each));
    }
    BOOST_TEST(all.empty());
}

BOOST_FIXTURE_TEST_CASE(one_of_them_leaves_from_the_middle, three) {
    BOOST_TEST(is(all.remove(*b), b));
    BOOST_TEST(!b->is_linked());
    auto const left = all.copy();
    BOOST_REQUIRE(left.size() == 2U);
    BOOST_TEST(is(left[0], a));
    BOOST_TEST(is(left[1], c));
}

BOOST_FIXTURE_TEST_CASE(who_has_left_can_come_again_and_is_the_last, three) {
    auto const first = all.remove(*a);
    all.push_back(*a, first);
    BOOST_TEST(is(all.front(), b));
    BOOST_TEST(is(all.copy().back(), a));
}

BOOST_AUTO_TEST_CASE(it_keeps_what_stands_in_it) {
    bool ended = false;
    std::optional<op_list> all{std::in_place};
    auto made = std::make_shared<element>();
    made->on_end = [&] { ended = true; };
    auto& place = *made;
    all->push_back(place, as_op(made));
    made.reset();
    BOOST_TEST(!ended);
    auto kept = all->remove(place);
    BOOST_TEST(!ended);
    all->push_back(place, std::move(kept));
    all.reset();
    BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(what_ends_may_take_others_out) {
    op_list all;
    auto const first = std::make_shared<element>();
    auto last = std::make_shared<element>();
    auto* const at_last = last.get();
    auto middle = std::make_shared<element>();
    bool taken = false;
    middle->on_end = [&] {
        auto const gone = all.remove(*at_last);
        taken = true;
    };
    all.push_back(*first, as_op(first));
    auto& place = *middle;
    all.push_back(place, as_op(middle));
    all.push_back(*at_last, as_op(last));
    middle.reset();
    last.reset();
    all.clear();
    BOOST_TEST(taken);
    BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_SUITE_END()
