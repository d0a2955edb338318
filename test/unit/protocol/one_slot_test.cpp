// Which names have one slot for all their keys.

#include "protocol/one_slot.hpp"

#include "protocol/counting_semaphore.hpp"
#include "protocol/fair_lock.hpp"
#include "protocol/latch.hpp"
#include "protocol/lock.hpp"
#include "protocol/read_write_lock.hpp"
#include "protocol/semaphore.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::detail;
using holdfast::config;

namespace {

std::vector<target> all_of(std::string const& name, std::string const& prefix = {}) {
    return {
        make_lock_target(prefix, name),
        make_fair_lock_target(prefix, name),
        make_read_lock_target(prefix, name),
        make_write_lock_target(prefix, name),
        make_semaphore_target(prefix, name),
        make_counting_semaphore_target(prefix, name),
        make_latch_target(prefix, name, true),
    };
}

config of_cluster() {
    config settings;
    settings.cluster_nodes = {{"127.0.0.1", 7000}};
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_slot_test)

BOOST_AUTO_TEST_CASE(the_keys_of_a_usual_name_share_a_slot) {
    for (std::string const name : {"a", "stock:7:apple", "order:{42}:line", "{tag}", "a{b}{c}"}) {
        for (auto const& each : all_of(name, "app:")) {
            BOOST_TEST(has_one_slot(each), name);
            BOOST_TEST(allowed_by(of_cluster(), each).valid(), name);
        }
    }
}

// Fault 112.
BOOST_AUTO_TEST_CASE(a_name_with_broken_tags_is_not_valid_on_a_cluster) {
    for (std::string const name : {"foo{", "{}foo", "}{", "a}b", "{a", "a}"}) {
        auto const lock = make_lock_target("", name);
        BOOST_TEST(!has_one_slot(lock), name);
        BOOST_TEST(!allowed_by(of_cluster(), lock).valid(), name);
        BOOST_TEST(allowed_by(config{}, lock).valid(), name);
    }
}

BOOST_AUTO_TEST_CASE(an_invalid_target_stays_invalid) {
    BOOST_TEST(!allowed_by(of_cluster(), make_lock_target("", "")).valid());
}

BOOST_AUTO_TEST_SUITE_END()
