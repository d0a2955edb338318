#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <ostream>

namespace holdfast::soak {

std::ostream& operator<<(std::ostream& out, rule broken) {
    return out << name_of(broken);
}

rules const by{
    .lease = std::chrono::milliseconds{1000},
    .loss_margin = std::chrono::milliseconds{300},
    .grant_within = std::chrono::milliseconds{6000},
    .hand_over_within = std::chrono::milliseconds{700},
    .renew_within = std::chrono::milliseconds{160},
    .release_within = std::chrono::milliseconds{330},
    .slack = std::chrono::milliseconds{1000},
    .time_to_tell = std::chrono::milliseconds{100},
    .longest_block = std::chrono::milliseconds{200},
};

std::vector<rule> broken_rules(findings const& found) {
    std::vector<rule> broken;
    for (auto const& v : found.violations) {
        BOOST_TEST_MESSAGE(v.text);
        broken.push_back(v.broken);
    }
    return broken;
}

findings check(history& all) {
    return checker{by}.check(all.events);
}

void keeps_all_rules(history& all) {
    BOOST_TEST(broken_rules(check(all)).empty());
}

void breaks(history& all, rule expected) {
    std::vector<rule> const only{expected};
    BOOST_TEST(broken_rules(check(all)) == only, boost::test_tools::per_element());
}

}  // namespace holdfast::soak
