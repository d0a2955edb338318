// What attempts ask for that not every user has the right to, and what is done without it; and what
// becomes of a lease that the server has worked out.

#include "protocol/semaphore.hpp"
#include "unit/acquire/handing_client.hpp"
#include "unit/printers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::lease_clock;
using holdfast::log_level;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::handing_client;
using holdfast::test::replied;

namespace {

acquiring_options const learning{.lease = holdfast::learned};

// Which of the keys the oldest attempt has that not every user may touch.
std::string extras(handing_client const& all) {
    auto const text = all.text();
    std::string found;
    for (std::string_view const key : {"holdfast_queue", "holdfast_hold"}) {
        found += text.find(key) != std::string::npos ? key.substr(9) : "";
    }
    return found;
}

std::size_t warnings(handing_client& all, std::string_view of) {
    return all.log.count(log_level::warning, of);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acquisitions_attempts_test)

BOOST_AUTO_TEST_CASE(a_lease_is_as_long_as_the_server_says) {
    handing_client all;
    acquiring one{all, learning};
    BOOST_TEST(all.text().ends_with(" 5000 6"));
    auto const now = lease_clock::now();
    all.answer(replied(1, 7, 1, 6'000, 1'000'000));
    BOOST_TEST(one.got.valid());
    BOOST_TEST((one.got.deadline() <= now + 6s));
    BOOST_TEST((one.got.deadline() >= now + 5s));
    one.got.release(asio::detached);
    all.run();
    BOOST_TEST(all.text().find("holdfast_hold:{a}") != std::string::npos);
    all.answer(freed());
}

BOOST_AUTO_TEST_CASE(a_plain_lease_asks_for_nothing_more) {
    handing_client all;
    acquiring one{all};
    BOOST_TEST(extras(all) == "queue");
    all.answer(granted());
    one.got.release(asio::detached);
    all.run();
    BOOST_TEST(extras(all) == "queue");
}

BOOST_AUTO_TEST_CASE(a_user_without_the_right_to_learn_has_the_configured_lease_and_a_warning) {
    handing_client all;
    acquiring const one{all, learning};
    BOOST_TEST(extras(all) == "queuehold");
    all.answer(failed(errc::no_permission));
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    BOOST_TEST(extras(all) == "queue");
    auto const now = lease_clock::now();
    all.answer(granted());
    BOOST_TEST((one.got.deadline() > now + 29s));
    BOOST_TEST(warnings(all, "learned") == 1U);
    BOOST_TEST(warnings(all, "queues") == 0U);
}

BOOST_AUTO_TEST_CASE(a_user_with_the_rights_of_the_first_version_gets_the_lock) {
    handing_client all;
    acquiring const one{all, learning};
    for (std::string_view const next : {"queue", ""}) {
        all.answer(failed(errc::no_permission));
        BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
        BOOST_TEST(extras(all) == next);
    }
    all.answer(granted());
    BOOST_TEST(one.got.valid());
    BOOST_TEST(warnings(all, "learned") == 1U);
    BOOST_TEST(warnings(all, "queues") == 1U);
}

BOOST_AUTO_TEST_CASE(whoever_may_not_even_do_without_fails) {
    handing_client all;
    acquiring const one{all, learning};
    for (int i = 0; i < 2; ++i) {
        all.answer(failed(errc::no_permission));
        BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    }
    all.answer(failed(errc::no_permission));
    BOOST_TEST((one.error == errc::no_permission));
}

BOOST_AUTO_TEST_CASE(an_estimate_that_may_not_be_read_is_not_asked_for_again) {
    handing_client all;
    acquiring one{all, learning};
    all.answer(replied(1, 7, 1, 30'000, -1));
    BOOST_TEST(one.got.valid());
    BOOST_TEST(warnings(all, "learned") == 1U);
    one.got.release(asio::detached);
    all.run();
    BOOST_TEST(extras(all) == "queue");
}

// The time that it was on its way counts.
BOOST_AUTO_TEST_CASE(a_grant_that_came_too_late_for_its_lease_is_asked_for_again) {
    holdfast::config settings;
    settings.learned_lease_min = 1s;
    handing_client all{settings};
    acquiring const one{all, learning};
    auto const id = all.id();
    auto const end = lease_clock::now() + 1s;
    BOOST_TEST(all.eventually([&] { return lease_clock::now() > end; }));
    all.answer(replied(1, 7, 1, 1'000, 1'000));
    BOOST_TEST(!one.done());
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    BOOST_TEST(all.id() == id);
}

BOOST_AUTO_TEST_CASE(another_limit_is_told_once_for_each_name) {
    handing_client all;
    auto const with = [](std::string_view name, std::int64_t limit) {
        auto const plain = holdfast::detail::make_semaphore_target("", name);
        auto const on = holdfast::detail::with_limit(plain, limit);
        acquiring_options made = holdfast::test::once;
        made.on = std::make_shared<holdfast::detail::target const>(on);
        return made;
    };
    auto const answer_one = [&](std::string_view name, std::int64_t limit, std::int64_t servers) {
        acquiring const one{all, with(name, limit)};
        all.answer(replied(0, 500, 0, 0, 0, servers, 0));
    };
    answer_one("a", 5, 5);
    BOOST_TEST(warnings(all, "limit") == 0U);
    answer_one("a", 5, 7);
    answer_one("a", 5, 7);
    answer_one("a", 6, 7);
    BOOST_TEST(warnings(all, "the server's limit of 7 permits applies") == 1U);
    answer_one("b", 5, 7);
    BOOST_TEST(warnings(all, "the server's limit of 7 permits applies") == 2U);
    BOOST_TEST(warnings(all, "semaphore \"b\"") == 1U);
    // Permits that had been missing are told each time.
    acquiring const found{all, with("a", 7)};
    all.answer(replied(1, 9, 1, 0, 0, 7, 3));
    BOOST_TEST(found.got.valid());
    BOOST_TEST(warnings(all, "3 of 7 permits were missing") == 1U);
}

BOOST_AUTO_TEST_CASE(a_limit_that_cannot_be_is_an_error) {
    handing_client all;
    for (std::int64_t const wrong : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
        auto const plain = holdfast::detail::make_semaphore_target("", "a");
        auto const on = holdfast::detail::with_limit(plain, wrong);
        acquiring_options made;
        made.on = std::make_shared<holdfast::detail::target const>(on);
        acquiring const one{all, made};
        BOOST_TEST((one.error == errc::invalid_options));
        BOOST_TEST(!one.inside);
    }
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_SUITE_END()
