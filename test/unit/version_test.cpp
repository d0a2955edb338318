// The version that programs can test is that of the build.

#include <holdfast/version.hpp>

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

bool has(std::string const& path, std::string const& text) {
    std::ifstream file{std::string{HOLDFAST_SOURCE_DIR} + "/" + path};
    if (!file) {
        throw std::runtime_error{"cannot read " + path};
    }
    std::string const all{std::istreambuf_iterator<char>{file}, {}};
    return all.find(text) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(version_test)

BOOST_AUTO_TEST_CASE(the_macros_tell_the_version_of_the_project) {
    std::string const project = HOLDFAST_PROJECT_VERSION;
    BOOST_TEST(project == HOLDFAST_VERSION_STRING);
    BOOST_TEST(
        project == std::to_string(HOLDFAST_VERSION_MAJOR) + '.' +
                       std::to_string(HOLDFAST_VERSION_MINOR) + '.' +
                       std::to_string(HOLDFAST_VERSION_PATCH)
    );
}

BOOST_AUTO_TEST_CASE(the_packages_have_the_version_of_the_project) {
    std::string const version = HOLDFAST_VERSION_STRING;
    BOOST_TEST(has("test/packaging/vcpkg/ports/holdfast/vcpkg.json", "\"version\": \"" + version));
    BOOST_TEST(has("test/packaging/consumers/conan/conanfile.txt", "holdfast/" + version));
}

// As a program uses them.
#if HOLDFAST_VERSION < 100 || HOLDFAST_VERSION >= 10000000
#error "HOLDFAST_VERSION cannot be compared"
#endif
static_assert(HOLDFAST_VERSION % 10000 == HOLDFAST_VERSION_MINOR * 100 + HOLDFAST_VERSION_PATCH);

BOOST_AUTO_TEST_SUITE_END()
