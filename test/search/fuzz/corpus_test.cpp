// What the fuzzers have found to be worth keeping, run again without a fuzzer: every build, with
// sanitizers and without, takes each input of each target.

#include "fuzz/targets.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

fs::path corpus() {
    return fs::path{HOLDFAST_SOURCE_DIR} / "test" / "search" / "fuzz" / "corpus";
}

std::vector<std::uint8_t> bytes_of(fs::path const& file) {
    std::ifstream in{file, std::ios::binary};
    BOOST_TEST_REQUIRE(in.good());
    return {std::istreambuf_iterator<char>{in}, {}};
}

void run(void (*target)(holdfast::fuzz::bytes), fs::path const& file) {
    try {
        target(bytes_of(file));
    } catch (holdfast::fuzz::violation const& broken) {
        BOOST_ERROR(file.string() + ": " + broken.what);
    } catch (std::exception const& thrown) {
        BOOST_ERROR(file.string() + ": threw " + thrown.what());
    }
}

// At least one of them: a folder that is not there is a test that shows nothing.
void run_all(std::string const& name, void (*target)(holdfast::fuzz::bytes)) {
    std::size_t inputs = 0;
    for (auto const& entry : fs::directory_iterator{corpus() / name}) {
        run(target, entry.path());
        ++inputs;
    }
    BOOST_TEST(inputs > 0U);
    BOOST_TEST_MESSAGE(name << ": " << inputs << " inputs");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(corpus_test)

#define HOLDFAST_FUZZ_CASE(name)              \
    BOOST_AUTO_TEST_CASE(name) {              \
        run_all(#name, holdfast::fuzz::name); \
    }
HOLDFAST_FUZZ_TARGETS(HOLDFAST_FUZZ_CASE)

BOOST_AUTO_TEST_CASE(every_folder_is_that_of_a_target) {
#define HOLDFAST_FUZZ_NAME(name) #name,
    std::set<std::string> const targets{HOLDFAST_FUZZ_TARGETS(HOLDFAST_FUZZ_NAME)};
    std::set<std::string> folders;
    for (auto const& entry : fs::directory_iterator{corpus()}) {
        folders.insert(entry.path().filename().string());
    }
    BOOST_TEST(folders == targets, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_property_that_does_not_hold_is_seen) {
    BOOST_CHECK_THROW(
        holdfast::fuzz::check(false, "what does not hold is a violation"),
        holdfast::fuzz::violation
    );
    BOOST_CHECK_NO_THROW(holdfast::fuzz::check(true, "what holds is none"));
}

BOOST_AUTO_TEST_SUITE_END()
