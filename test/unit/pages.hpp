#ifndef HOLDFAST_TEST_UNIT_PAGES_HPP
#define HOLDFAST_TEST_UNIT_PAGES_HPP

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

// The documents, for tests of what they say.
namespace holdfast::test {

/// A file's text; `path` begins at the project's folder.
inline std::string read_file(std::string const& path) {
    std::ifstream in{std::string{HOLDFAST_SOURCE_DIR} + "/" + path, std::ios::binary};
    if (!in) {
        throw std::runtime_error{"cannot read " + path};
    }
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// The paths of README.md, the documentation's first page, and the others.
inline std::vector<std::string> pages() {
    std::vector<std::string> all{"README.md", "src/reference/index.md"};
    std::string const folder = "src/reference/pages";
    for (auto const& entry :
         std::filesystem::directory_iterator{std::string{HOLDFAST_SOURCE_DIR} + "/" + folder}) {
        all.push_back(folder + "/" + entry.path().filename().string());
    }
    std::ranges::sort(all);
    return all;
}

}  // namespace holdfast::test

#endif
