#include "cli/lock_keys.hpp"

#include "core/holder_id.hpp"
#include "protocol/semaphore.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::cli;
using namespace std::chrono_literals;
using holdfast::detail::holder_id;
using holdfast::detail::permit_id;
using names = std::vector<std::string>;
using hash = std::vector<std::pair<std::string, std::string>>;

namespace {

std::string const client = "8766556d-3dc3-4c66-bafa-c88ac2e160f9";
std::string const other_client = "a333d739-d288-4433-ab09-9fb504ca4cb8";

}  // namespace

BOOST_AUTO_TEST_CASE(keys_tell_which_name_they_belong_to) {
    struct known {
        std::string key;
        trace::kind what;
        names of;
    };
    std::vector<known> const all{
        {"holdfast_queue:{a}", trace::kind::waited_for, {"{a}", "a"}},
        {"holdfast_queue:a{b}c", trace::kind::waited_for, {"a{b}c"}},
        {"holdfast_rwlock_queue:{a}", trace::kind::read_write, {"{a}", "a"}},
        {"redisson_lock_queue:{a}", trace::kind::fair, {"{a}", "a"}},
        {"holdfast_fair:{a}", trace::kind::fair, {"{a}", "a"}},
        {"holdfast_semaphore_token:{a}", trace::kind::semaphore, {"{a}", "a"}},
        {"{a}:timeout", trace::kind::semaphore, {"{a}", "a"}},
        {"holdfast_done:{a}:" + client + ":17", trace::kind::counted, {"{a}", "a"}},
    };
    for (auto const& one : all) {
        auto const found = trace_of_key(one.key);
        BOOST_REQUIRE_MESSAGE(found.has_value(), one.key);
        BOOST_TEST((found->what == one.what), one.key);
        BOOST_TEST(found->names == one.of, boost::test_tools::per_element());
    }
    for (std::string const other :
         {"a", "holdfast_server", "holdfast_queue:", "session:timeout", "holdfast_done:{a}"}) {
        BOOST_TEST(!trace_of_key(other), other);
    }
    BOOST_TEST((trace_of_channel("redisson_sc:{a}")->what == trace::kind::sc));
    BOOST_TEST(
        (trace_of_channel("redisson_countdownlatch__channel__{a}")->what == trace::kind::latch)
    );
    BOOST_TEST(!trace_of_channel("news"));
}

BOOST_AUTO_TEST_CASE(two_names_have_one_queue) {
    BOOST_TEST(twin_of("a") == "{a}");
    BOOST_TEST(twin_of("{a}") == "a");
    BOOST_TEST(twin_of("a{b}c").empty());
    BOOST_TEST(twin_of("{a}{b}").empty());
}

BOOST_AUTO_TEST_CASE(parts_of_locks_are_no_numbers_of_users) {
    BOOST_TEST(is_part_of_a_lock("redisson_lock_token:{a}"));
    BOOST_TEST(is_part_of_a_lock("{a}:holdfast_limit"));
    BOOST_TEST(is_part_of_a_lock("{a}:" + client + ":1:rwlock_timeout:1"));
    BOOST_TEST(!is_part_of_a_lock("visits"));
}

BOOST_AUTO_TEST_CASE(a_holder_is_a_client_and_a_number) {
    BOOST_TEST(is_holder_id(client + ":17"));
    BOOST_TEST(is_holder_id(client + ":-5"));
    BOOST_TEST(is_holder_id(client + ":17:" + other_client));
    for (std::string const& other :
         {std::string{},
          client,
          client + ":",
          client + ":x",
          client + ":17:write",
          client + ":17:",
          std::string{"user:42"},
          client.substr(1) + "x:17"}) {
        BOOST_TEST(!is_holder_id(other), other);
    }
    BOOST_TEST(client_id_in(client + ":17") == client);
    BOOST_TEST(client_id_in("user:42").empty());
}

BOOST_AUTO_TEST_CASE(a_lock_has_one_holder_and_nothing_else) {
    auto const held = holders_in(hash{{client + ":17", "2"}});
    BOOST_REQUIRE(held.has_value());
    BOOST_REQUIRE(held->size() == 1U);
    BOOST_TEST(held->front().id == client + ":17");
    BOOST_TEST(held->front().count == 2U);
    for (auto const& foreign :
         {hash{},
          hash{{"page", "3"}},
          hash{{client + ":17", "x"}},
          hash{{client + ":17", "0"}},
          hash{{client + ":17", "1"}, {client + ":18", "1"}},
          hash{{"user:42", "1"}}}) {
        BOOST_TEST(!holders_in(foreign).has_value());
    }
}

BOOST_AUTO_TEST_CASE(a_read_write_lock_has_a_mode_and_sides) {
    auto const held = readers_and_writer_in(
        hash{{"mode", "write"}, {client + ":17:write", "1"}, {client + ":18", "3"}}
    );
    BOOST_REQUIRE(held.has_value());
    BOOST_REQUIRE(held->size() == 2U);
    BOOST_TEST(held->at(0).id == client + ":17");
    BOOST_TEST(held->at(0).side == "write");
    BOOST_TEST(held->at(1).side == "read");
    BOOST_TEST(held->at(1).count == 3U);
    for (auto const& foreign :
         {hash{{"mode", "read"}},
          hash{{client + ":17", "1"}},
          hash{{"mode", "dark"}, {client + ":17", "1"}},
          hash{{"mode", "read"}, {"page", "1"}}}) {
        BOOST_TEST(!readers_and_writer_in(foreign).has_value());
    }
}

BOOST_AUTO_TEST_CASE(entries_of_queues_name_their_holders) {
    BOOST_TEST(holder_in_entry(client + ":17 3000") == client + ":17");
    BOOST_TEST(holder_in_entry("r " + client + ":17") == client + ":17");
    BOOST_TEST(holder_in_entry("2 " + client + ":17") == client + ":17");
    BOOST_TEST(holder_in_entry(client + ":17") == client + ":17");
    BOOST_TEST(holder_in_entry("turn").empty());
    BOOST_TEST(holder_in_entry("").empty());
}

BOOST_AUTO_TEST_CASE(a_token_tells_when_it_was_taken_if_it_is_a_time) {
    BOOST_TEST((age_of(1'795'657'452'000'000, 1'795'657'455'000'000) == 3s));
    BOOST_TEST(!age_of(0, 1'795'657'455'000'000));
    BOOST_TEST(!age_of(17, 1'795'657'455'000'000));
    // The clock was set back.
    BOOST_TEST(!age_of(1'795'657'455'000'001, 1'795'657'455'000'000));
    BOOST_TEST(!age_of(1'795'657'455'000'001, 0));
}

BOOST_AUTO_TEST_CASE(a_holder_leads_to_the_connection_of_its_client) {
    auto const all = clients_in(
        "id=1 addr=10.0.0.1:5000 name=shop:" + client + "\n" +
        "id=2 addr=10.0.0.1:5001 name=shop:" + client + "\n" +
        "id=3 addr=10.0.0.2:5000 name=\nid=4 addr=10.0.0.3:5000 name=worker:7\n"
    );
    BOOST_TEST(all.size() == 1U);
    BOOST_TEST(client_of(all, client + ":17").program == "shop");
    BOOST_TEST(client_of(all, client + ":17").address == "10.0.0.1:5000");
    BOOST_TEST(client_of(all, other_client + ":17").address.empty());
}

BOOST_AUTO_TEST_CASE(a_permit_leads_to_the_client_whose_id_is_in_it) {
    auto const all = clients_in(
        "addr=10.0.0.1:5000 name=shop:" + client +
        "\naddr=10.0.0.2:5000 name=billing:" + other_client + "\n"
    );
    for (std::uint32_t index : {0U, 1U, 999U}) {
        permit_id const mine{holder_id{client, 0x123456789abcdefU}, index};
        BOOST_TEST(client_of_permit(all, mine.view()).program == "shop");
    }
    permit_id const theirs{holder_id{other_client, 1}, 0};
    BOOST_TEST(client_of_permit(all, theirs.view()).program == "billing");
    BOOST_TEST(client_of_permit(all, std::string(16, 'x')).program.empty());
    BOOST_TEST(client_of_permit(all, "short").program.empty());
}
