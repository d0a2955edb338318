// Small files with one purpose, each with a unit test of its own.

#include "unit/source_tree.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

constexpr std::ptrdiff_t most_lines = 400;

std::set<std::string> long_files(std::vector<source_file> const& files) {
    std::set<std::string> found;
    for (auto const& file : files) {
        if (std::ranges::count(file.text, '\n') > most_lines) {
            found.insert(file.path + " is too long");
        }
    }
    return found;
}

// src/core/backoff.cpp has test/unit/core/backoff_test.cpp.
std::set<std::string> files_without_twin(
    std::vector<source_file> const& sources,
    std::vector<source_file> const& tests
) {
    std::set<std::string> found;
    for (auto const& file : sources) {
        if (file.layer().empty() || !file.path.ends_with(".cpp")) {
            continue;
        }
        auto const inside = file.path.substr(4, file.path.size() - 8);
        auto const twin = "test/unit/" + inside + "_test.cpp";
        if (std::ranges::find(tests, twin, &source_file::path) == tests.end()) {
            found.insert(file.path + " has no twin in test/unit");
        }
    }
    return found;
}

std::set<std::string> const known_long_files{};

std::set<std::string> const known_without_twin{};

}  // namespace

BOOST_AUTO_TEST_SUITE(tree_test)

BOOST_AUTO_TEST_CASE(no_source_file_is_too_long) {
    auto found = long_files(read_tree("src", {".hpp", ".cpp", ".lua"}));
    found.merge(long_files(read_tree("include")));
    check_against(found, known_long_files);
}

BOOST_AUTO_TEST_CASE(each_source_file_has_a_unit_test) {
    check_against(files_without_twin(read_tree("src"), read_tree("test/unit")), known_without_twin);
}

BOOST_AUTO_TEST_CASE(what_is_planted_is_found) {
    std::string const line(1, '\n');
    std::string four_hundred;
    for (int i = 0; i < most_lines; ++i) {
        four_hundred += line;
    }
    BOOST_TEST(long_files({{"src/a.cpp", four_hundred}}).empty());
    BOOST_TEST(long_files({{"src/a.cpp", four_hundred + line}}).size() == 1U);

    std::vector<source_file> const tests{{"test/unit/core/a_test.cpp", ""}};
    BOOST_TEST(files_without_twin({{"src/core/a.cpp", ""}, {"src/b.cpp", ""}}, tests).empty());
    BOOST_TEST(files_without_twin({{"src/core/b.cpp", ""}}, tests).size() == 1U);
    BOOST_TEST(files_without_twin({{"src/lease/a.cpp", ""}}, tests).size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
