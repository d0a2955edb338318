// Commands that leave together, and the memory that they use again.

#include "redis/request_batch.hpp"

#include "protocol/scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using holdfast::detail::call;
using holdfast::detail::request_batch;
using holdfast::detail::spare_batches;
using namespace std::chrono_literals;

namespace {

call release() {
    call made{holdfast::detail::scripts::lock_release, 1s};
    made.key("a").key("channel").arg("x:1");
    return made;
}

std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}

// With commands of so many bytes at least.
std::shared_ptr<request_batch> filled(spare_batches& from, std::size_t bytes) {
    auto made = from.take();
    while (made->request().payload().size() < bytes) {
        made->add_check(1);
    }
    return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(request_batch_test)

BOOST_AUTO_TEST_CASE(a_script_is_called_by_its_hash_and_its_nonce_comes_last) {
    request_batch batch;
    batch.add(release(), false, 42);
    auto const sha1 = holdfast::detail::scripts::lock_release.sha1;
    BOOST_TEST(
        batch.request().payload() == "*7\r\n" + bulk("EVALSHA") + bulk(sha1) + bulk("2") +
                                         bulk("a") + bulk("channel") + bulk("x:1") + bulk("42")
    );
    BOOST_TEST(batch.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_script_that_is_not_known_is_sent_whole) {
    request_batch batch;
    batch.add(release(), true, 42);
    auto const text = holdfast::detail::scripts::lock_release.text;
    BOOST_TEST(batch.request().payload().starts_with("*7\r\n" + bulk("EVAL") + bulk(text)));
}

BOOST_AUTO_TEST_CASE(a_check_follows_what_was_added_before) {
    request_batch batch;
    batch.add(release(), false, 1);
    batch.add_check(2);
    BOOST_TEST(batch.request().payload().ends_with("*2\r\n" + bulk("PING") + bulk("2")));
    BOOST_TEST(batch.size() == 2U);
    batch.clear();
    BOOST_TEST(batch.size() == 0U);
    BOOST_TEST(batch.request().payload().empty());
}

BOOST_AUTO_TEST_CASE(a_batch_that_was_given_back_is_used_again_empty) {
    spare_batches spare;
    auto const first = filled(spare, 100);
    spare.give_back(first);
    auto const again = spare.take();
    BOOST_TEST(again == first);
    BOOST_TEST(again->size() == 0U);
    BOOST_TEST(spare.take() != first);
}

BOOST_AUTO_TEST_CASE(it_is_full_when_it_is_long) {
    request_batch batch;
    while (!batch.full()) {
        BOOST_TEST_REQUIRE(batch.request().payload().size() < request_batch::full_at);
        batch.add(release(), false, 1);
    }
    BOOST_TEST(batch.request().payload().size() < request_batch::full_at + 1000);
    batch.clear();
    BOOST_TEST(!batch.full());
}

BOOST_AUTO_TEST_CASE(neither_large_batches_are_kept_nor_many) {
    spare_batches spare;
    std::weak_ptr<request_batch> const large = [&] {
        auto const one = filled(spare, 2 * request_batch::full_at + 1);
        spare.give_back(one);
        return one;
    }();
    BOOST_TEST(large.expired());

    std::vector<std::weak_ptr<request_batch>> many;
    {
        std::vector<std::shared_ptr<request_batch>> used;
        for (int i = 0; i < 20; ++i) {
            many.emplace_back(used.emplace_back(filled(spare, request_batch::full_at)));
        }
        for (auto const& one : used) {
            spare.give_back(one);
        }
    }
    auto const kept =
        std::count_if(many.begin(), many.end(), [](auto const& one) { return !one.expired(); });
    BOOST_TEST(kept == 16);
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_have_the_slot_yet_is_asked_first) {
    request_batch batch;
    batch.add_asking();
    batch.add_check(42);
    BOOST_TEST(
        batch.request().payload() ==
        "*1\r\n" + bulk("ASKING") + "*2\r\n" + bulk("PING") + bulk("42")
    );
    BOOST_TEST(batch.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_script_is_sent_as_its_server_speaks) {
    using holdfast::detail::script_dialect;
    auto const& what = holdfast::detail::scripts::lock_release;
    request_batch plain;
    plain.add(release(), false, 42, script_dialect::cluster);
    BOOST_TEST(plain.request().payload().find(what.cluster.sha1) != std::string::npos);
    request_batch sharded;
    sharded.add(release(), true, 42, script_dialect::sharded);
    BOOST_TEST(sharded.request().payload().find(what.sharded.text) != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
