// What was found, for programs and for people.

#include "cli/inspect.hpp"

#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using namespace holdfast::cli;

namespace {

found_lock held_lock() {
    found_lock found;
    found.kind = lock_kind::lock;
    found.lock.emplace();
    found.lock->held = true;
    found.lock->holder = "71b9:12";
    found.lock->remaining = 27'300ms;
    found.lock->hold_count = 1;
    found.lock->last_token.value = 41;
    found.lock->waiting_clients = 2;
    return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_inspect_test)

BOOST_AUTO_TEST_CASE(a_held_lock_is_shown_with_its_holder) {
    auto const found = held_lock();
    holder_connection const from{"shop", "10.0.0.2:5000"};
    BOOST_TEST(
        boost::json::serialize(json_of("a", found, from)) ==
        R"({"name":"a","kind":"lock","held":true,"waiting":2,"holder":"71b9:12",)"
        R"("hold_count":1,"remaining_ms":27300,"never_expires":false,"last_token":41,)"
        R"("client":{"name":"shop","address":"10.0.0.2:5000"}})"
    );
    BOOST_TEST(
        text_of("a", found, from, {}) ==
        "'a'  held\n"
        "  kind       lock\n"
        "  holder     71b9:12\n"
        "  client     'shop' at 10.0.0.2:5000\n"
        "  expires    in 27.3s\n"
        "  token      41\n"
        "  waiting    2\n"
    );
}

BOOST_AUTO_TEST_CASE(a_lock_without_an_expiry_stands_out) {
    auto found = held_lock();
    found.lock->remaining.reset();
    found.lock->never_expires = true;
    auto const text = text_of("a", found, {}, style{true});
    BOOST_TEST(text.find("\x1b[31mnever") != text.npos);
    auto const json = boost::json::serialize(json_of("a", found, {}));
    BOOST_TEST(json.find(R"("remaining_ms":null,"never_expires":true)") != json.npos);
}

BOOST_AUTO_TEST_CASE(other_kinds_show_what_they_have) {
    found_lock pool;
    pool.kind = lock_kind::semaphore;
    pool.permits.emplace();
    pool.permits->limit = 3;
    pool.permits->available = 1;
    pool.permits->acquired = 2;
    BOOST_TEST(
        boost::json::serialize(json_of("p", pool, {})) ==
        R"({"name":"p","kind":"semaphore","held":true,"waiting":0,)"
        R"("limit":3,"available":1,"acquired":2})"
    );
    BOOST_TEST(text_of("p", pool, {}, {}).find("2 of 3 taken") != std::string::npos);

    auto both = held_lock();
    both.kind = lock_kind::read_write_lock;
    both.lock->held = false;
    both.readers = held_lock().lock;
    both.readers->readers = 4;
    auto const text = text_of("rw", both, {}, {});
    BOOST_TEST(text.find("readers    4") != text.npos);
    BOOST_TEST(text.find("holder     71b9:12") != text.npos);

    found_lock latch;
    latch.number = 7;
    BOOST_TEST(text_of("l", latch, {}, {}) == "'l'  \n  number     7\n");
}

BOOST_AUTO_TEST_SUITE_END()
