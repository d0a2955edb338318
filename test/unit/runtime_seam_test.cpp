// Only src/runtime/runtime.* sleeps, reads a clock or draws randomness: no other file of the
// library names what one would do it with. `lease_clock::now()` is the seam itself. Comments and
// strings may name anything.

#include "unit/source_tree.hpp"

#include <boost/test/unit_test.hpp>

#include <cctype>
#include <cstddef>
#include <regex>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

// Comments and the contents of literals become nothing; line ends stay.
std::string code_of(std::string const& text) {
    static std::regex const not_code{
        R"(//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"
    };
    std::string code;
    std::size_t at = 0;
    for (std::sregex_iterator found{text.begin(), text.end(), not_code}, end; found != end;
         ++found) {
        auto const start = static_cast<std::size_t>(found->position());
        // A digit separator is no literal.
        if ((*found)[0].str().front() == '\'' && start > 0 &&
            std::isxdigit(static_cast<unsigned char>(text[start - 1]))) {
            continue;
        }
        code += text.substr(at, start - at);
        at = start + static_cast<std::size_t>(found->length());
    }
    return code + text.substr(at);
}

std::vector<std::string> forbidden_in(std::string const& text) {
    static std::regex const forbidden{
        R"(\b(?:steady_timer|system_timer|high_resolution_timer|basic_waitable_timer|deadline_timer|cancel_after|cancel_at|)"
        R"(system_clock|high_resolution_clock|random_device|mt19937(?:_64)?|clock_gettime|gettimeofday|getrandom|getentropy|)"
        R"(arc4random\w*|sleep_for|wait_for|nanosleep|usleep)\b|\b(?:steady_clock|utc_clock|tai_clock)\s*::\s*now\b|)"
        R"(\btime\s*\(\s*(?:0|NULL|nullptr|&\w+)\s*\)|\b(?:clock|rand|random|sleep)\s*\(\s*\d*\s*\))"
    };
    std::vector<std::string> names;
    auto const code = code_of(text);
    for (std::sregex_iterator found{code.begin(), code.end(), forbidden}, end; found != end;
         ++found) {
        names.push_back(found->str());
    }
    return names;
}

bool is_seam(source_file const& file) {
    return file.path == "src/runtime/runtime.hpp" || file.path == "src/runtime/runtime.cpp";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime_seam_test)

BOOST_AUTO_TEST_CASE(no_other_file_sleeps_reads_a_clock_or_draws_randomness) {
    int looked_at = 0;
    int seams = 0;
    for (char const* const folder : {"src", "include"}) {
        for (auto const& file : read_tree(folder)) {
            auto const names = forbidden_in(file.text);
            ++looked_at;
            if (is_seam(file)) {
                seams += names.empty() ? 0 : 1;
                continue;
            }
            for (auto const& name : names) {
                BOOST_ERROR(file.path << " names " << name);
            }
        }
    }
    BOOST_TEST(looked_at > 40);
    // Where they are allowed, they are found: the search sees what it looks for.
    BOOST_TEST(seams == 2);
}

BOOST_AUTO_TEST_CASE(what_is_planted_is_found) {
    for (std::string const planted :
         {"boost::asio::steady_timer t{e};",
          "co_await f(asio::cancel_after(2s));",
          "auto t = std::chrono::system_clock::now();",
          "std::chrono::steady_clock::now()",
          "steady_clock :: now()",
          "std::random_device d;",
          "::clock_gettime(CLOCK_REALTIME, &t);",
          "high_resolution_clock::now()",
          "::getrandom(&b, 8, 0)",
          "std::this_thread::sleep_for(1ms);",
          "time(nullptr)",
          "std::time(&t)",
          "srand(time(0));",
          "std::mt19937 g;",
          "auto x = 1'000'000; steady_timer t; auto y = 2'0;"}) {
        BOOST_TEST_CONTEXT(planted) {
            BOOST_TEST(!forbidden_in(planted).empty());
            BOOST_TEST(
                !forbidden_in("/* a\n b */ \"text\" // more\n" + planted + "\n// end").empty()
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(the_seam_comments_and_other_words_are_allowed) {
    for (std::string const allowed :
         {"lease_clock::now()",
          "// a steady_timer coroutine",
          "/* std::random_device\n * steady_clock::now() */",
          "log(\"steady_timer\");",
          "on_time_up(busy, cause);",
          "stop_time()",
          "arm_limit(terms.request_timeout)",
          "request_.push(\"TIME\");",
          "fsm.on_renewed(sent_at, now)",
          "sleep_until(sleep, step.until);",
          "now.time()",
          "char c = '\"'; // steady_timer",
          "timer sleep{executor};"}) {
        BOOST_TEST_CONTEXT(allowed) {
            BOOST_TEST(forbidden_in(allowed).empty());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
