// The commands that the documents name are there: those of ./dev with their options, and those of
// the program `holdfast`. What the commands do is tested elsewhere.

#include "unit/pages.hpp"
#include "unit/source_tree.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

struct command {
    std::string page;
    std::vector<std::string> words;

    std::string text() const {
        std::string all = page + ":";
        for (auto const& word : words) {
            all += " " + word;
        }
        return all;
    }
};

std::vector<std::string> documents() {
    auto all = pages();
    all.insert(
        all.end(),
        {"CHANGELOG.md",
         "test/README.md",
         "test/faults.md",
         "test/chaos/README.md",
         "test/interop/README.md",
         "test/search/README.md"}
    );
    return all;
}

// What stands in code: after a backtick, or at the beginning of a line.
std::vector<command> commands_of(std::string const& program) {
    std::vector<command> found;
    for (auto const& page : documents()) {
        auto const text = read_file(page);
        for (auto at = text.find(program + " "); at != std::string::npos;
             at = text.find(program + " ", at + 1)) {
            if (auto const before = text.find_last_not_of(' ', at - 1);
                at != 0 && text[before] != '`' && text[before] != '\n') {
                continue;
            }
            // A long one may be wrapped.
            auto const end = text.find_first_of("`|;#(", at);
            auto const line_end = text.find('\n', at);
            bool const wrapped = at != 0 && text[at - 1] == '`';
            std::istringstream words{text.substr(at, std::min(end, wrapped ? end : line_end) - at)};
            found.push_back({page, {std::istream_iterator<std::string>{words}, {}}});
        }
    }
    return found;
}

// A command such as `  test [ARGS]       build and run the tests`.
std::set<std::string> in_the_help_of_dev() {
    auto const dev = read_file("dev");
    auto const start = dev.find("usage: ./dev COMMAND\n");
    std::istringstream help{dev.substr(start, dev.find("\nEND\n", start) - start)};
    std::set<std::string> names;
    for (std::string line; std::getline(help, line);) {
        if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ') {
            names.insert(line.substr(2, line.find(' ', 2) - 2));
        }
    }
    return names;
}

bool is_placeholder(std::string const& word) {
    return std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

// What could take an option, or be a test's name.
std::string programs() {
    std::string all = read_file("dev");
    for (auto const* folder : {"test", "bench", ".ci", "examples"}) {
        for (auto const& file : read_tree(folder, {".cpp", ".py", ".sh"})) {
            if (!file.path.starts_with("test/unit/page")) {
                all += file.path + "\n" + file.text;
            }
        }
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_command_of_dev_that_the_documents_name_is_in_its_help) {
    auto const names = in_the_help_of_dev();
    auto const all = commands_of("./dev");
    for (auto const& one : all) {
        BOOST_REQUIRE(one.words.size() >= 2U);
        BOOST_TEST(names.contains(one.words[1]), one.text());
    }
    BOOST_TEST(all.size() >= 40U);
}

BOOST_AUTO_TEST_CASE(each_example_that_the_documents_name_is_there) {
    std::size_t examples = 0;
    for (auto const& one : commands_of("./dev")) {
        if (one.words.size() > 2 && one.words[1] == "example" && !is_placeholder(one.words[2])) {
            auto const file = "/examples/" + one.words[2] + ".cpp";
            BOOST_TEST(std::filesystem::exists(HOLDFAST_SOURCE_DIR + file), one.text());
            ++examples;
        }
    }
    BOOST_TEST(examples >= 15U);
}

BOOST_AUTO_TEST_CASE(each_option_that_the_documents_give_dev_is_known_to_a_program) {
    auto const known = programs();
    // Of the test programs, by Boost.Test.
    std::set<std::string> const foreign{"--run_test"};
    std::size_t options = 0;
    for (auto const& one : commands_of("./dev")) {
        for (std::size_t i = 2; i < one.words.size(); ++i) {
            auto const option = one.words[i].substr(0, one.words[i].find('='));
            if (option.starts_with("--") && !foreign.contains(option)) {
                BOOST_TEST((known.find(option) != std::string::npos), one.text());
                ++options;
            } else if (one.words[i - 1] == "-R") {
                BOOST_TEST((known.find("/" + option) != std::string::npos), one.text());
                ++options;
            }
        }
    }
    BOOST_TEST(options >= 20U);
}

BOOST_AUTO_TEST_CASE(each_command_of_the_program_that_the_documents_name_is_there) {
    std::string sources;
    for (auto const& file : read_tree("src")) {
        if (file.layer() == "cli") {
            sources += file.text;
        }
    }
    for (auto const& one : commands_of("holdfast")) {
        BOOST_REQUIRE(one.words.size() >= 2U);
        for (auto const& word : one.words) {
            if (word == "--") {
                break;  // what follows is another program's
            }
            bool const is_option = word.starts_with("--");
            if (is_option || (&word == &one.words[1] && !is_placeholder(word))) {
                auto const name = word.substr(0, word.find('='));
                BOOST_TEST((sources.find(name) != std::string::npos), one.text());
            }
        }
    }
}
