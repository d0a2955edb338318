// The folders below src are layers, and includes point one way. The table says which folder may
// include which; a new folder needs a line of its own.

#include "unit/source_tree.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

using folders = std::set<std::string>;

// Lowest first. What lies in src itself, one file per public header, has no name.
std::map<std::string, folders> const allowed{
    {"core", {}},
    {"protocol", {"core"}},
    {"runtime", {"protocol", "core"}},
    {"redis", {"runtime", "protocol", "core"}},
    {"memory_server", {"runtime", "protocol", "core"}},
    {"lease", {"runtime", "protocol", "core"}},
    {"acquire", {"lease", "runtime", "protocol", "core"}},
    {"client", {"acquire", "lease", "runtime", "protocol", "core"}},
    {"", {"client", "acquire", "lease", "runtime", "protocol", "core"}},
};

// Where a client gets its servers from.
std::string const wiring = "src/client.cpp";
folders const only_wired{"redis", "memory_server"};

// The file that an include names, or nothing if it is not one of the library's.
source_file const* own_file(std::vector<source_file> const& files, std::string const& include) {
    for (auto const& file : files) {
        if (file.path == "src/" + include || file.path == "include/" + include) {
            return &file;
        }
    }
    return nullptr;
}

std::set<std::string> arrows_that_point_back(std::vector<source_file> const& files) {
    std::set<std::string> found;
    for (auto const& file : files) {
        auto const rule = allowed.find(file.layer());
        if (rule == allowed.end()) {
            found.insert("no layer is named " + file.layer());
            continue;
        }
        for (auto const& include : includes_of(file.text)) {
            auto const* const target = own_file(files, include);
            auto const layer = target ? target->layer() : "";
            if (!target || layer.empty() || layer == file.layer() || rule->second.contains(layer) ||
                (file.path == wiring && only_wired.contains(layer))) {
                continue;
            }
            found.insert(file.path + " includes " + include);
        }
    }
    return found;
}

// Appends what the file reaches through the library's own headers.
void reach(
    std::vector<source_file> const& files,
    source_file const& from,
    std::set<std::string>& seen
) {
    for (auto const& include : includes_of(from.text)) {
        if (seen.insert(include).second) {
            if (auto const* const next = own_file(files, include)) {
                reach(files, *next, seen);
            }
        }
    }
}

bool is_standard_or_system(std::string const& include) {
    return include.find('/') == include.npos || include.starts_with("boost/system/") ||
           include == "boost/assert.hpp";
}

std::set<std::string> heavy_includes_of_core(std::vector<source_file> const& files) {
    std::set<std::string> found;
    for (auto const& file : files) {
        if (file.layer() != "core") {
            continue;
        }
        std::set<std::string> seen;
        reach(files, file, seen);
        for (auto const& include : seen) {
            if (!own_file(files, include) && !is_standard_or_system(include)) {
                found.insert(file.path + " reaches " + include);
            }
        }
    }
    return found;
}

// A header on which most of the other folders' files depend ties everything together.
std::set<std::string> headers_that_everything_includes(std::vector<source_file> const& files) {
    std::map<std::string, std::size_t> users;
    std::map<std::string, std::size_t> sources;
    for (auto const& file : files) {
        if (!file.path.starts_with("src/")) {
            continue;
        }
        ++sources[file.layer()];
        std::set<std::string> once;
        for (auto const& include : includes_of(file.text)) {
            auto const* const target = own_file(files, include);
            if (target && !target->layer().empty() && target->layer() != file.layer() &&
                once.insert(include).second) {
                ++users[target->path];
            }
        }
    }
    std::size_t all = 0;
    for (auto const& [layer, count] : sources) {
        all += count;
    }
    std::set<std::string> found;
    for (auto const& [path, count] : users) {
        auto const others = all - sources[source_file{path, {}}.layer()];
        if (2 * count > others) {
            found.insert(path + " is included by more than half of the other folders' files");
        }
    }
    return found;
}

std::set<std::string> circles(std::vector<source_file> const& files) {
    std::set<std::string> found;
    for (auto const& file : files) {
        std::set<std::string> seen;
        reach(files, file, seen);
        if (seen.contains(file.path.substr(file.path.find('/') + 1))) {
            found.insert(file.path + " includes itself in a circle");
        }
    }
    return found;
}

std::vector<source_file> library() {
    auto files = read_tree("src");
    for (auto& file : read_tree("include")) {
        files.push_back(std::move(file));
    }
    return files;
}

std::set<std::string> const known_arrows{};

std::set<std::string> const known_in_core{};

}  // namespace

BOOST_AUTO_TEST_SUITE(layers_test)

BOOST_AUTO_TEST_CASE(includes_point_one_way) {
    auto const files = library();
    BOOST_TEST(files.size() > 60);
    check_against(arrows_that_point_back(files), known_arrows);
}

BOOST_AUTO_TEST_CASE(no_layer_may_include_one_that_may_include_it) {
    for (auto const& [layer, lower] : allowed) {
        for (auto const& below : lower) {
            BOOST_TEST(!allowed.at(below).contains(layer), layer << " and " << below);
            BOOST_TEST(!only_wired.contains(below), layer << " and " << below);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_core_reaches_the_standard_library_and_boost_system_only) {
    check_against(heavy_includes_of_core(library()), known_in_core);
}

BOOST_AUTO_TEST_CASE(no_header_is_included_by_everything) {
    check_against(headers_that_everything_includes(library()), {});
}

BOOST_AUTO_TEST_CASE(no_headers_include_each_other) {
    check_against(circles(library()), {});
}

// What the checks above are worth.

BOOST_AUTO_TEST_CASE(a_planted_arrow_is_found) {
    std::vector<source_file> const files{
        {"src/core/a.hpp", "#pragma once\n#include \"lease/b.hpp\"\n"},
        {"src/lease/b.hpp", "#include <vector>\n  #  include \"core/a.hpp\"\n"},
        {"src/client.cpp", "#include \"redis/c.hpp\"\n"},
        {"src/client/d.cpp", "#include \"redis/c.hpp\"\n"},
        {"src/redis/c.hpp", "// #include \"lease/b.hpp\"\n#include \"core/a.hpp\""},
        {"src/somewhere/e.hpp", ""},
    };
    std::set<std::string> const expected{
        "src/core/a.hpp includes lease/b.hpp",
        "src/client/d.cpp includes redis/c.hpp",
        "no layer is named somewhere",
    };
    auto const found = arrows_that_point_back(files);
    BOOST_TEST(found == expected, boost::test_tools::per_element());
    BOOST_TEST(circles(files).size() == 2U);
}

BOOST_AUTO_TEST_CASE(what_the_core_reaches_through_a_public_header_is_found) {
    std::vector<source_file> const files{
        {"include/holdfast/config.hpp", "#include <boost/asio/ssl.hpp>\n"},
        {"src/core/a.hpp",
         "#include <holdfast/config.hpp>\n#include <boost/system/error_code.hpp>\n"},
        {"src/core/b.cpp", "#include \"core/a.hpp\"\n"},
    };
    std::set<std::string> const expected{
        "src/core/a.hpp reaches boost/asio/ssl.hpp",
        "src/core/b.cpp reaches boost/asio/ssl.hpp",
    };
    BOOST_TEST(heavy_includes_of_core(files) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_header_of_most_files_is_found) {
    std::vector<source_file> const files{
        {"src/core/a.hpp", ""},
        {"src/core/b.cpp", "#include \"core/a.hpp\"\n"},
        {"src/lease/a.cpp", "#include \"core/a.hpp\"\n#include \"core/a.hpp\"\n"},
        {"src/lease/b.cpp", "#include \"core/a.hpp\"\n"},
        {"src/lease/c.cpp", ""},
    };
    BOOST_TEST(headers_that_everything_includes(files).size() == 1U);
    BOOST_TEST(headers_that_everything_includes({files[0], files[2], files[4]}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
