#ifndef HOLDFAST_TEST_UNIT_SOURCE_TREE_HPP
#define HOLDFAST_TEST_UNIT_SOURCE_TREE_HPP

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

// The project's own files, for tests of how they are arranged.
namespace holdfast::test {

/// A source file below the project's folder.
struct source_file {
    std::string path;  ///< from the project's folder: `src/core/backoff.hpp`
    std::string text;

    /// The folder below src whose rules apply; empty for what lies in src itself and elsewhere.
    std::string layer() const {
        auto const end = path.find('/', 4);
        return path.starts_with("src/") && end != path.npos ? path.substr(4, end - 4) : "";
    }
};

/// What the folder holds, in alphabetical order; `kinds` are the ends of names that count.
inline std::vector<source_file> read_tree(
    std::string const& folder,
    std::vector<std::string> const& kinds = {".hpp", ".cpp"}
) {
    namespace fs = std::filesystem;
    fs::path const root{HOLDFAST_SOURCE_DIR};
    std::vector<source_file> files;
    for (auto const& entry : fs::recursive_directory_iterator{root / folder}) {
        auto const kind = entry.path().extension().string();
        if (entry.is_regular_file() && std::ranges::find(kinds, kind) != kinds.end()) {
            std::ifstream in{entry.path(), std::ios::binary};
            files.push_back(
                {entry.path().lexically_relative(root).generic_string(),
                 {std::istreambuf_iterator<char>{in}, {}}}
            );
        }
    }
    std::ranges::sort(files, {}, &source_file::path);
    return files;
}

/// Fails for each violation that is not among the known ones, and for each known one that is
/// mended: the list can only become shorter.
inline void check_against(std::set<std::string> const& found, std::set<std::string> const& known) {
    for (auto const& violation : found) {
        if (!known.contains(violation)) {
            BOOST_ERROR(violation);
        }
    }
    for (auto const& violation : known) {
        if (!found.contains(violation)) {
            BOOST_ERROR("strike it off the list of known violations: " << violation);
        }
    }
}

}  // namespace holdfast::test

#endif
