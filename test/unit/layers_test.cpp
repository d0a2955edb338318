// The folders below src are layers, and includes point one way. The table says which folder may
// include which; a new folder needs a line of its own.

#include "unit/include_graph.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

using folders = std::set<std::string>;

// On top of all: it looks at servers themselves, too.
std::string const program = "cli";

// Lowest first. What lies in src itself, one file per public header, has no name.
std::map<std::string, folders> const allowed{
    {"core", {}},
    {"protocol", {"core"}},
    {"runtime", {"protocol", "core"}},
    // It knows nothing about locks.
    {"resp", {"runtime"}},
    {"redis", {"resp", "runtime", "protocol", "core"}},
    {"memory_server", {"runtime", "protocol", "core"}},
    {"lease", {"runtime", "protocol", "core"}},
    {"acquire", {"lease", "runtime", "protocol", "core"}},
    {"client", {"acquire", "lease", "runtime", "protocol", "core"}},
    // Beside the library, on its public headers.
    {"prometheus", {}},
    {program, {"redis", "client", "acquire", "lease", "runtime", "protocol", "core"}},
    {"", {"client", "acquire", "lease", "runtime", "protocol", "core"}},
};

// Where a client gets its servers from.
std::string const wiring = "src/client.cpp";
folders const only_wired{"redis", "memory_server"};

// The layer of the file that is included; empty if that has none.
std::string layer_of(include_graph const& all, include_graph::include const& what) {
    return what.target ? all.nodes()[*what.target].file.layer() : "";
}

std::set<std::string> arrows_that_point_back(include_graph const& all) {
    std::set<std::string> found;
    for (auto const& [file, includes] : all.nodes()) {
        auto const own = file.layer();
        auto const rule = allowed.find(own);
        if (rule == allowed.end()) {
            found.insert("no layer is named " + own);
            continue;
        }
        for (auto const& include : includes) {
            auto const layer = layer_of(all, include);
            if (layer.empty() || layer == own || rule->second.contains(layer) ||
                (file.path == wiring && only_wired.contains(layer))) {
                continue;
            }
            found.insert(file.path + " includes " + include.name);
        }
    }
    return found;
}

bool is_standard_or_system(std::string const& include) {
    return include.find('/') == include.npos || include.starts_with("boost/system/") ||
           include == "boost/assert.hpp";
}

std::set<std::string> heavy_includes_of_core(include_graph const& all) {
    std::set<std::string> found;
    for (auto const& each : all.nodes()) {
        if (each.file.layer() != "core") {
            continue;
        }
        for (auto const* const include : all.reached_from(each)) {
            if (!include->target && !is_standard_or_system(include->name)) {
                found.insert(each.file.path + " reaches " + include->name);
            }
        }
    }
    return found;
}

// A header on which most of the other folders' files depend ties everything together.
std::set<std::string> headers_that_everything_includes(include_graph const& all) {
    std::map<std::size_t, std::size_t> users;
    std::map<std::string, std::size_t> sources;
    std::size_t count = 0;
    for (auto const& [file, includes] : all.nodes()) {
        if (!file.path.starts_with("src/")) {
            continue;
        }
        auto const own = file.layer();
        ++sources[own];
        ++count;
        std::set<std::size_t> once;
        for (auto const& include : includes) {
            auto const layer = layer_of(all, include);
            if (!layer.empty() && layer != own && once.insert(*include.target).second) {
                ++users[*include.target];
            }
        }
    }
    std::set<std::string> found;
    for (auto const& [number, of_it] : users) {
        auto const& header = all.nodes()[number].file;
        auto const others = count - sources[header.layer()];
        if (2 * of_it > others) {
            found.insert(
                header.path + " is included by more than half of the other folders' files"
            );
        }
    }
    return found;
}

std::set<std::string> circles(include_graph const& all) {
    std::set<std::string> found;
    for (std::size_t number = 0; number < all.nodes().size(); ++number) {
        auto const& each = all.nodes()[number];
        auto const reached = all.reached_from(each);
        if (std::ranges::any_of(reached, [number](auto const* one) {
                return one->target == number;
            })) {
            found.insert(each.file.path + " includes itself in a circle");
        }
    }
    return found;
}

include_graph const& library() {
    static include_graph const all = [] {
        auto files = read_tree("src");
        for (auto& file : read_tree("include")) {
            files.push_back(std::move(file));
        }
        return include_graph{std::move(files)};
    }();
    return all;
}

std::set<std::string> const known_arrows{};

std::set<std::string> const known_in_core{};

}  // namespace

BOOST_AUTO_TEST_SUITE(layers_test)

BOOST_AUTO_TEST_CASE(includes_point_one_way) {
    BOOST_TEST(library().nodes().size() > 60U);
    check_against(arrows_that_point_back(library()), known_arrows);
}

BOOST_AUTO_TEST_CASE(no_layer_may_include_one_that_may_include_it) {
    for (auto const& [layer, lower] : allowed) {
        for (auto const& below : lower) {
            BOOST_TEST(!allowed.at(below).contains(layer), layer << " and " << below);
            BOOST_TEST(
                (layer == program || !only_wired.contains(below)),
                layer << " and " << below
            );
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
    include_graph const all{files};
    auto const found = arrows_that_point_back(all);
    BOOST_TEST(found == expected, boost::test_tools::per_element());
    BOOST_TEST(circles(all).size() == 2U);
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
    auto const found = heavy_includes_of_core(include_graph{files});
    BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_header_of_most_files_is_found) {
    std::vector<source_file> const files{
        {"src/core/a.hpp", ""},
        {"src/core/b.cpp", "#include \"core/a.hpp\"\n"},
        {"src/lease/a.cpp", "#include \"core/a.hpp\"\n#include \"core/a.hpp\"\n"},
        {"src/lease/b.cpp", "#include \"core/a.hpp\"\n"},
        {"src/lease/c.cpp", ""},
    };
    BOOST_TEST(headers_that_everything_includes(include_graph{files}).size() == 1U);
    include_graph const few{{files[0], files[2], files[4]}};
    BOOST_TEST(headers_that_everything_includes(few).empty());
}

BOOST_AUTO_TEST_SUITE_END()
