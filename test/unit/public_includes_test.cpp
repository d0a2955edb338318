// The public headers include only what Boost calls public: no `detail` folder of another library,
// and nothing experimental.

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::vector<std::string> private_includes_of(std::istream& text) {
    static std::regex const not_public{
        R"(^\s*#\s*include\s*<((?!holdfast/).*/)?(detail|experimental|impl)/.*)"
    };
    std::vector<std::string> found;
    for (std::string line; std::getline(text, line);) {
        if (std::regex_match(line, not_public)) {
            found.push_back(line);
        }
    }
    return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(public_includes_test)

BOOST_AUTO_TEST_CASE(a_public_header_includes_no_private_one_of_another_library) {
    int looked_at = 0;
    for (auto const& entry :
         fs::recursive_directory_iterator{fs::path{HOLDFAST_SOURCE_DIR} / "include"}) {
        if (entry.is_regular_file()) {
            std::ifstream file{entry.path()};
            ++looked_at;
            for (auto const& line : private_includes_of(file)) {
                BOOST_ERROR(entry.path().filename().string() + ": " + line);
            }
        }
    }
    BOOST_TEST(looked_at > 20);
}

BOOST_AUTO_TEST_CASE(the_test_finds_what_it_looks_for) {
    std::istringstream text{
        "#include <boost/asio/detail/config.hpp>\n"
        "#include <boost/asio/experimental/parallel_group.hpp>\n"
        "#include <holdfast/detail/patience.hpp>\n"
        "#include <boost/asio/post.hpp>\n"
    };
    BOOST_TEST(private_includes_of(text).size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
