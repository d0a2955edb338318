#ifndef HOLDFAST_TEST_UNIT_HISTORY_WRITTEN_HISTORY_HPP
#define HOLDFAST_TEST_UNIT_HISTORY_WRITTEN_HISTORY_HPP

#include "support/history/checker.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::history {

inline std::ostream& operator<<(std::ostream& out, rule broken) {
    return out << name_of(broken);
}

constexpr instant at_ms(std::int64_t count) {
    return count * 1'000'000;
}

/// Writes what happens to one operation of a worker on lock 0. Times are in ms; the lease is 1000
/// ms, of which 300 lie between the loss and the deadline, and the drift is 0.
class operation_writer {
public:
    operation_writer(
        std::vector<event>& into,
        std::int64_t process,
        std::int64_t op,
        std::int64_t owner = 0
    )
        : into_{into},
          process_{process},
          op_{op},
          owner_{owner} {}

    operation_writer& invoke(std::int64_t at, std::int64_t limit = unlimited) {
        auto& e = add(at, happening::invoke);
        e.limit = limit == unlimited ? unlimited : at_ms(limit);
        e.owner = owner_;
        return *this;
    }
    operation_writer& granted(std::int64_t at, std::int64_t token, std::int64_t deadline) {
        token_ = token;
        auto& e = add(at, happening::granted);
        e.token = token;
        e.deadline = at_ms(deadline);
        deadline_ = deadline;
        return *this;
    }
    operation_writer& moved(std::int64_t at, std::int64_t deadline) {
        add(at, happening::moved).deadline = at_ms(deadline);
        deadline_ = deadline;
        return *this;
    }
    operation_writer& says(std::int64_t at, happening what, std::string word = {}) {
        add(at, what).word = std::move(word);
        return *this;
    }
    operation_writer& releasing(std::int64_t at) {
        add(at, happening::releasing).deadline = at_ms(deadline_);
        return *this;
    }
    operation_writer& released(std::int64_t at) { return says(at, happening::released, "ok"); }
    operation_writer& uses(std::int64_t at, happening what, std::int64_t flags = was_accepted) {
        auto& e = add(at, what);
        e.token = token_;
        e.flags = flags;
        return *this;
    }
    // Granted, used and released.
    operation_writer& whole(std::int64_t from, std::int64_t to, std::int64_t token) {
        return invoke(from - 1)
            .granted(from, token, from + 1000)
            .uses(from, happening::read)
            .uses(to - 1, happening::written)
            .releasing(to)
            .released(to + 1);
    }

private:
    event& add(std::int64_t at, happening what) {
        into_.push_back(
            {.at = at_ms(at), .what = what, .process = process_, .op = op_, .lock = 0, .word = {}}
        );
        return into_.back();
    }

    std::vector<event>& into_;
    std::int64_t process_;
    std::int64_t op_;
    std::int64_t owner_;
    std::int64_t token_ = 0;
    std::int64_t deadline_ = 0;
};

/// A history that a test writes.
struct story {
    std::vector<event> events;

    operation_writer op(std::int64_t process, std::int64_t number, std::int64_t owner = 0) {
        return {events, process, number, owner};
    }
    void conductor(std::int64_t at, happening what, std::int64_t process = 0) {
        events.push_back({.at = at_ms(at), .what = what, .process = process, .word = "something"});
    }
    void span(happening what, std::int64_t since, std::int64_t to, std::int64_t process = 0) {
        events.push_back(
            {.at = at_ms(to), .what = what, .process = process, .since = at_ms(since), .word = {}}
        );
    }
    /// These locks have another server at `to`; `last_lost` is -1 if it has all that was written.
    void change(
        std::int64_t since,
        std::int64_t to,
        std::int64_t last_lost,
        std::int64_t locks = 0,
        std::string word = "failover"
    ) {
        events.push_back(
            {.at = at_ms(to),
             .what = last_lost < 0 ? happening::switched : happening::failed_over,
             .deadline = last_lost < 0 ? 0 : at_ms(last_lost),
             .since = at_ms(since),
             .locks = locks,
             .word = std::move(word)}
        );
    }
};

/// By which the histories are checked.
inline rules const by{
    .lease = std::chrono::milliseconds{1000},
    .loss_margin = std::chrono::milliseconds{300},
    .grant_within = std::chrono::milliseconds{6000},
    .hand_over_within = std::chrono::milliseconds{700},
    .renew_within = std::chrono::milliseconds{160},
    .release_within = std::chrono::milliseconds{330},
};

inline std::vector<rule> broken_rules(findings const& found) {
    std::vector<rule> broken;
    for (auto const& v : found.violations) {
        BOOST_TEST_MESSAGE(v.text);
        broken.push_back(v.broken);
    }
    return broken;
}

inline findings check(story& all) {
    return checker{by}.check(all.events);
}

// Fail the test case if it is not so.
inline void keeps_all_rules(story& all) {
    BOOST_TEST(broken_rules(check(all)).empty());
}

inline void breaks(story& all, rule expected) {
    std::vector<rule> const only{expected};
    BOOST_TEST(broken_rules(check(all)) == only, boost::test_tools::per_element());
}

inline void judge(story& all, bool fine, rule otherwise) {
    fine ? keeps_all_rules(all) : breaks(all, otherwise);
}

}  // namespace holdfast::history

#endif
