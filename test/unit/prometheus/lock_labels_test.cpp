#include "prometheus/lock_labels.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <thread>

using holdfast::prometheus_options;
using holdfast::detail::lock_labels;
using holdfast::detail::lock_values;

namespace {

// What comes before the colon.
std::string kind_of(std::string_view lock) {
    if (lock.empty()) {
        throw std::invalid_argument{"no name"};
    }
    return std::string{lock.substr(0, lock.find(':'))};
}

std::string labels_in(lock_labels const& of) {
    std::string all;
    of.for_each([&](std::string const& label, lock_values const& values) {
        all += label + '=' + std::to_string(values.doubts.load()) + ' ';
    });
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lock_labels_test)

BOOST_AUTO_TEST_CASE(without_a_function_all_locks_count_together) {
    prometheus_options const options;
    lock_labels of{options};
    ++of.of("a").doubts;
    ++of.of("b").doubts;
    BOOST_TEST(labels_in(of) == "=2 ");
}

BOOST_AUTO_TEST_CASE(locks_with_one_label_count_together) {
    prometheus_options const options{.lock_label = kind_of};
    lock_labels of{options};
    ++of.of("stock:1").doubts;
    ++of.of("order:1").doubts;
    ++of.of("stock:2").doubts;
    BOOST_TEST(labels_in(of) == "order=1 stock=2 other=0 ");
}

BOOST_AUTO_TEST_CASE(what_exceeds_the_bound_is_other) {
    prometheus_options const options{.lock_label = kind_of, .max_lock_labels = 2};
    lock_labels of{options};
    for (char const* const each : {"a", "b", "c", "d", "a", "other", ""}) {
        ++of.of(each).doubts;
    }
    BOOST_TEST(labels_in(of) == "a=2 b=1 other=4 ");
}

BOOST_AUTO_TEST_CASE(a_label_that_is_called_other_is_none_of_its_own) {
    prometheus_options const options{.lock_label = kind_of};
    lock_labels of{options};
    ++of.of("other:1").doubts;
    BOOST_TEST(labels_in(of) == "other=1 ");
}

BOOST_AUTO_TEST_CASE(threads_that_come_with_a_label_at_the_same_time_share_it) {
    prometheus_options const options{.lock_label = kind_of, .max_lock_labels = 40};
    lock_labels of{options};
    auto const work = [&of] {
        for (int i = 0; i < 5'000; ++i) {
            ++of.of(std::to_string(i % 50)).doubts;
        }
    };
    std::thread other{work};
    work();
    other.join();
    std::size_t labels = 0;
    std::uint64_t sum = 0;
    of.for_each([&](std::string const&, lock_values const& values) {
        ++labels;
        sum += values.doubts;
    });
    BOOST_TEST(labels == 41U);
    BOOST_TEST(sum == 10'000U);
}

BOOST_AUTO_TEST_SUITE_END()
