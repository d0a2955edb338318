#include "report.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace holdfast::test {

namespace {

constexpr std::size_t most_shown = 8;

constexpr std::array<std::string_view, violations> names{
    "false grants",
    "hangs",
    "wrong ends",
    "left behind",
    "not recovered",
    "wrong epochs",
    "missed",
};
static_assert(!names.back().empty());

}  // namespace

void report::add(violation what, std::string const& where, std::string const& details) {
    auto& kind = found_[static_cast<std::size_t>(what)];
    ++kind.count;
    if (kind.first.size() < most_shown) {
        kind.first.push_back(where + ": " + details);
    }
}

void report::add(report const& other) {
    for (std::size_t i = 0; i < found_.size(); ++i) {
        auto& lines = found_[i].first;
        found_[i].count += other.found_[i].count;
        lines.insert(lines.end(), other.found_[i].first.begin(), other.found_[i].first.end());
        lines.resize(std::min(lines.size(), most_shown));
    }
    judged_ += other.judged_;
    repeated_ += other.repeated_;
    took(other.longest_, other.longest_where_);
}

bool report::clean() const {
    return std::all_of(found_.begin(), found_.end(), [](auto const& one) {
        return one.count == 0;
    });
}

std::size_t report::count(violation what) const {
    return found_[static_cast<std::size_t>(what)].count;
}

void report::took(std::chrono::nanoseconds time, std::string const& where) {
    if (time > longest_) {
        longest_ = time;
        longest_where_ = where;
    }
}

std::string report::summary() const {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", names[i], found_[i].count);
    }
    using ms = std::chrono::milliseconds;
    return text + fmt::format(
                      "; leases judged {}; repeated {}; longest operation {} ms ({})",
                      judged_,
                      repeated_,
                      std::chrono::duration_cast<ms>(longest_).count(),
                      longest_where_
                  );
}

void report::check() const {
    for (std::size_t i = 0; i < names.size(); ++i) {
        BOOST_TEST(found_[i].count == 0U, names[i] << ": " << found_[i].count);
        for (auto const& line : found_[i].first) {
            BOOST_ERROR(line);
        }
    }
    BOOST_TEST(judged_ > 0U);
}

}  // namespace holdfast::test
