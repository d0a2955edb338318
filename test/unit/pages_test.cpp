// The code of the README and of the documentation's pages is compiled: it is in a source of
// test/packaging word for word. What they link to is there. The README's examples
// are those that there are, and the fencing recipe is that of the example.

#include "unit/pages.hpp"

#include "unit/source_tree.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

std::vector<std::string> blocks_of(std::string const& language, std::string const& text) {
    std::string const opening = "```" + language + "\n";
    std::vector<std::string> blocks;
    for (auto at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
        at += opening.size();
        blocks.push_back(text.substr(at, text.find("```", at) - at));
    }
    return blocks;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_code_in_the_pages_is_compiled) {
    // Most are in compile/pages.cpp; those of an optional part are where that is tested.
    std::string compiled;
    for (auto const& file : read_tree("test/packaging")) {
        compiled += file.text;
    }
    std::size_t blocks = 0;
    for (auto const& page : pages()) {
        // Its programs are built and run, in test/packaging/consumers/tutorial.
        if (page.ends_with("/tutorial.md")) {
            continue;
        }
        for (auto const& block : blocks_of("cpp", read_file(page))) {
            BOOST_TEST((compiled.find(block) != std::string::npos), page << ":\n" << block);
            ++blocks;
        }
    }
    BOOST_TEST(blocks >= 10U);
}

BOOST_AUTO_TEST_CASE(what_the_pages_link_to_is_there) {
    std::size_t links = 0;
    for (auto const& page : pages()) {
        auto const text = read_file(page);
        auto const folder = std::filesystem::path{page}.parent_path();
        for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at)) {
            at += 2;
            auto const to = text.substr(at, text.find(')', at) - at);
            // A lambda looks like a link, but for its parameters.
            if (to.find(' ') == std::string::npos && to.find("://") == std::string::npos) {
                auto const file = std::filesystem::path{HOLDFAST_SOURCE_DIR} / folder / to;
                BOOST_TEST(std::filesystem::exists(file), page << " links to " << to);
                ++links;
            }
        }
    }
    BOOST_TEST(links >= 30U);
}

// src/reference/pages/failures.md: a table of failures, then a section for each.
BOOST_AUTO_TEST_CASE(each_failure_in_the_table_has_its_section) {
    std::vector<std::string> rows;
    std::vector<std::string> sections;
    std::size_t advice = 0;
    std::istringstream page{read_file("src/reference/pages/failures.md")};
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) {
            BOOST_TEST(advice == sections.size(), "no advice before " << line);
            sections.push_back(line.substr(3));
        } else if (line.starts_with("**What to do.**")) {
            ++advice;
        } else if (line.starts_with("| ") && !line.starts_with("| failure |") &&
                   !line.starts_with("| ---")) {
            rows.push_back(line.substr(2, line.find(" |", 2) - 2));
        }
    }
    BOOST_TEST(rows == sections, boost::test_tools::per_element());
    BOOST_TEST(advice == sections.size());
    BOOST_TEST(sections.size() >= 15U);
}

BOOST_AUTO_TEST_CASE(the_statements_of_the_fencing_recipe_are_those_that_the_example_stands_for) {
    auto const example = read_file("examples/stock_table.hpp");
    auto const blocks = blocks_of("sql", read_file("src/reference/pages/fencing.md"));
    BOOST_REQUIRE(blocks.size() == 1U);
    int statements = 0;
    std::istringstream recipe{blocks.front()};
    for (std::string line; std::getline(recipe, line, ';') && line != "\n"; ++statements) {
        auto const statement = "// " + line.substr(line.find_first_not_of('\n')) + "\n";
        BOOST_TEST((example.find(statement) != std::string::npos), statement);
    }
    BOOST_TEST(statements == 3);
}

// README.md: | example | what it shows | `./dev example NAME` |
BOOST_AUTO_TEST_CASE(every_example_has_its_row_in_the_readme) {
    std::vector<std::string> there;
    std::string const folder{HOLDFAST_SOURCE_DIR "/examples"};
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        auto const& file = entry.path();
        if (file.extension() == ".cpp" && file.stem() != "main") {
            there.push_back(file.stem().string());
        }
    }

    std::vector<std::string> told;
    std::string const command = "| `./dev example ";
    std::string const end = "` |";
    std::istringstream readme{read_file("README.md")};
    for (std::string line; std::getline(readme, line);) {
        auto const at = line.find(command);
        if (at == std::string::npos) {
            continue;
        }
        auto const name_at = at + command.size();
        auto const name = line.substr(name_at, line.rfind(end) - name_at);
        bool const links = line.starts_with("| [" + name + "](examples/" + name + ".cpp) |");
        BOOST_TEST((links && line.ends_with(end)), line);
        told.push_back(name);
    }

    std::sort(there.begin(), there.end());
    std::sort(told.begin(), told.end());
    BOOST_TEST(there == told, boost::test_tools::per_element());
    BOOST_TEST(there.size() >= 10U);
}

// test/faults.md: | fault | file | test |
BOOST_AUTO_TEST_CASE(the_tests_in_the_table_of_faults_exist) {
    std::istringstream table{read_file("test/faults.md")};
    int rows = 0;
    for (std::string line; std::getline(table, line);) {
        auto const file_at = std::min(
            {line.find("| integration/"),
             line.find("| chaos/"),
             line.find("| search/"),
             line.find("| unit/")}
        );
        if (file_at == std::string::npos) {
            continue;
        }
        auto const name_at = line.rfind("| ") + 2;
        auto const file = line.substr(file_at + 2, line.find(' ', file_at + 2) - file_at - 2);
        auto const name = line.substr(name_at, line.rfind(" |") - name_at);
        auto const program = read_file("test/" + file);
        auto const at = program.find(name);
        bool const ends = at != std::string::npos &&
                          std::string{",) \n"}.find(program[at + name.size()]) != std::string::npos;
        BOOST_TEST(ends, file + ": " + name);
        ++rows;
    }
    BOOST_TEST(rows > 60);
}
