// From the replies of a server to a row.

#include "cli/lock_reader.hpp"

#include "unit/cli/replies.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::cli;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::detail::raw_reply;
using replies = std::vector<raw_reply>;

namespace {

std::string const client = "8766556d-3dc3-4c66-bafa-c88ac2e160f9";
std::string const holder = client + ":17";
std::uint64_t constexpr now = 1'795'657'455'000'000;
clients_by_id const clients{{client, {"shop", "10.0.0.1:5000"}}};
auto const wrong_type = refusal("WRONGTYPE Operation against a key");

replies const hash_of_one{number(1), nil(), number(27'000)};
replies const hash_with_mode{number(2), words({"read"}), number(27'000)};
replies const nothing_there{number(0), nil(), number(-2)};
replies const text_there{wrong_type, wrong_type, number(-1)};

std::optional<lock_row> row_of(
    candidate const& seen,
    replies const& first,
    replies const& second,
    std::string name = "a"
) {
    row_look const look{std::move(name), seen, name_look{first}, false};
    BOOST_TEST(look.questions() == second.size());
    return look.questions() == second.size() ? look.read(second, {&clients, now, false})
                                             : std::nullopt;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lock_that_is_held) {
    auto const row = row_of(
        {.is_hash = true},
        hash_of_one,
        {words({holder, "1"}),
         words({"1795657452000000"}),
         words({"turn", client + ":18 3000"}),
         number(1),
         words({}),
         number(0)}
    );
    BOOST_REQUIRE(row.has_value());
    BOOST_TEST(row->name == "a");
    BOOST_TEST((row->kind == row_kind::lock));
    BOOST_REQUIRE(row->holders.size() == 1U);
    BOOST_TEST(row->holders[0].id == holder);
    BOOST_TEST((row->holders[0].remaining == 27s));
    BOOST_TEST(row->holders[0].who.program == "shop");
    BOOST_TEST(row->token == 1'795'657'452'000'000U);
    BOOST_TEST((row->age == 3s));
    BOOST_TEST(row->waiting == 1U);
    BOOST_REQUIRE(row->waiters.size() == 1U);
    BOOST_TEST(row->waiters[0].id == client + ":18");
}

BOOST_AUTO_TEST_CASE(a_lock_without_an_end_and_without_rights_to_more) {
    auto const denied = refusal("NOPERM no permissions");
    auto const row = row_of(
        {.is_hash = true},
        {number(1), nil(), number(-1)},
        {words({holder, "1"}), denied, denied, denied, denied, denied}
    );
    BOOST_REQUIRE(row.has_value());
    BOOST_TEST(!row->holders[0].remaining.has_value());
    BOOST_TEST(!row->age.has_value());
    BOOST_TEST(row->waiting == 0U);
}

BOOST_AUTO_TEST_CASE(a_fair_lock_is_known_by_its_queue) {
    auto const row = row_of(
        {.is_hash = true},
        hash_of_one,
        {words({holder, "1"}), nil(), words({}), number(0), words({client + ":19"}), number(1)}
    );
    BOOST_REQUIRE(row.has_value());
    BOOST_TEST((row->kind == row_kind::fair_lock));
    BOOST_TEST(row->waiting == 1U);
}

BOOST_AUTO_TEST_CASE(foreign_data_is_no_lock) {
    replies const no_queue{nil(), words({}), number(0), words({}), number(0)};
    auto with = [&](raw_reply held) {
        replies all{std::move(held)};
        all.insert(all.end(), no_queue.begin(), no_queue.end());
        return all;
    };
    BOOST_TEST(!row_of({.is_hash = true}, hash_of_one, with(words({"page", "3"}))).has_value());
    BOOST_TEST(!row_of({.is_hash = true}, hash_of_one, with(words({"user:4", "3"}))).has_value());
    // It went in between.
    BOOST_TEST(!row_of({.is_hash = true}, hash_of_one, with(words({}))).has_value());
    BOOST_TEST(!row_of(
                    {.is_hash = true},
                    hash_with_mode,
                    {words({"mode", "read", "page", "1"}), nil(), words({}), number(0)}
    )
                    .has_value());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_a_lock_is_not_asked_about) {
    row_look const large{
        "a",
        {.is_hash = true},
        name_look{replies{number(1'000'000), nil(), number(-1)}},
        false
    };
    BOOST_TEST(large.questions() == 0U);
    BOOST_TEST(!large.read({}, {&clients, now, false}).has_value());
    row_look const text{"a", {.is_hash = true}, name_look{text_there}, false};
    BOOST_TEST(text.questions() == 0U);
    row_look const long_name{
        std::string(513, 'x'),
        {.is_hash = true},
        name_look{hash_of_one},
        false
    };
    BOOST_TEST(long_name.questions() == 0U);
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_free_is_shown_while_somebody_waits) {
    auto const free_with = [](std::int64_t waiting) {
        return row_of(
            {.traces = {trace::kind::waited_for}},
            nothing_there,
            {words({}), nil(), words({}), number(waiting), words({}), number(0)}
        );
    };
    BOOST_TEST(free_with(2)->waiting == 2U);
    BOOST_TEST(free_with(2)->holders.empty());
    BOOST_TEST(!free_with(0).has_value());
}

BOOST_AUTO_TEST_CASE(a_read_write_lock_with_its_readers) {
    auto const row = row_of(
        {.is_hash = true},
        {number(3), words({"read"}), number(27'000)},
        {words({"mode", "read", holder, "1", client + ":18", "1"}),
         words({"1795657452000000"}),
         words({"w " + client + ":19"}),
         number(1)}
    );
    BOOST_REQUIRE(row.has_value());
    BOOST_TEST((row->kind == row_kind::read_write_lock));
    BOOST_TEST(row->holders.size() == 2U);
    BOOST_TEST(row->holders[1].side == "read");
    BOOST_TEST(row->waiting == 1U);
    BOOST_TEST(row->waiters.size() == 1U);
    BOOST_TEST(row_look::hold_key("a", holder) == "{a}:" + holder + ":rwlock_timeout:1");
    BOOST_TEST(row_look::hold_key("a{b}", holder) == "a{b}:" + holder + ":rwlock_timeout:1");
}

BOOST_AUTO_TEST_CASE(a_semaphore_has_permits_that_are_taken_or_over) {
    std::string const permit(16, 'p');
    candidate const seen{.traces = {trace::kind::semaphore}};
    auto const row = row_of(
        seen,
        text_there,
        {words({"3"}),
         words({permit, "1795657482000", std::string(16, 'q'), "1.795657454e+12"}),
         words({"1795657452000000"}),
         words({"2 " + client + ":19"}),
         number(1)}
    );
    BOOST_REQUIRE(row.has_value());
    BOOST_TEST((row->kind == row_kind::semaphore));
    BOOST_TEST(row->number.value() == 4);
    BOOST_REQUIRE(row->holders.size() == 1U);
    BOOST_TEST(row->holders[0].id == "70707070707070707070707070707070");
    BOOST_TEST((row->holders[0].remaining == 27s));
    BOOST_TEST(row->waiting == 1U);
    // A set of other data, and one with no number under its name.
    BOOST_TEST(
        !row_of(seen, text_there, {words({"3"}), words({"user", "1"}), nil(), words({}), number(0)})
             .has_value()
    );
    BOOST_TEST(
        !row_of(seen, nothing_there, {nil(), words({}), nil(), words({}), number(0)}).has_value()
    );
}

BOOST_AUTO_TEST_CASE(a_latch_and_a_counting_semaphore_are_known_by_who_listens) {
    auto const kind_with = [](std::int64_t latch, std::int64_t semaphore) {
        auto of_latch = words({"channel"});
        of_latch.values.emplace_back(latch);
        auto of_semaphore = words({"channel"});
        of_semaphore.values.emplace_back(semaphore);
        auto const row = row_of(
            {.traces = {trace::kind::counted}},
            text_there,
            {words({"2"}), of_latch, of_semaphore}
        );
        BOOST_REQUIRE(row.has_value());
        BOOST_TEST(row->number.value() == 2);
        return row->kind;
    };
    BOOST_TEST((kind_with(1, 0) == row_kind::latch));
    BOOST_TEST((kind_with(0, 1) == row_kind::counting_semaphore));
    BOOST_TEST((kind_with(0, 0) == row_kind::counted));
}

BOOST_AUTO_TEST_CASE(a_number_is_shown_if_it_is_one) {
    BOOST_TEST((row_of({.is_number = true}, text_there, {words({"7"})})->kind == row_kind::number));
    BOOST_TEST(!row_of({.is_number = true}, text_there, {words({"seven"})}).has_value());
}
