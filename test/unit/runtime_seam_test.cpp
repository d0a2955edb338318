// Only src/runtime/runtime.* sleeps, reads a clock or draws randomness: no other file of the
// library names what one would do it with. The time of day, which the program compares with a
// server's, has a file of its own. `lease_clock::now()` is the seam itself. Comments and
// strings may name anything.

#include "unit/source_tree.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace holdfast::test;

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where the literal or comment at `at` ends; `at` itself if none begins there.
std::size_t end_of_not_code(std::string_view text, std::size_t at) {
    auto const rest = text.substr(at);
    if (rest.starts_with("//")) {
        return std::min(text.find('\n', at), text.size());
    }
    if (rest.starts_with("/*")) {
        auto const end = text.find("*/", at + 2);
        return end == text.npos ? at : end + 2;
    }
    auto const quote = rest.front();
    // A digit separator is no literal.
    bool const separates =
        quote == '\'' && at > 0 && std::isxdigit(static_cast<unsigned char>(text[at - 1])) != 0;
    if ((quote != '"' && quote != '\'') || separates) {
        return at;
    }
    for (auto i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
        if (text[i] == quote) {
            return i + 1;
        }
        i += text[i] == '\\' ? 1U : 0U;
    }
    return at;
}

// Comments and the contents of literals become nothing; line ends stay.
std::string code_of(std::string_view text) {
    std::string code;
    for (std::size_t at = 0; at < text.size();) {
        auto const begins = std::min(text.find_first_of("/\"'", at), text.size());
        code += text.substr(at, begins - at);
        at = begins < text.size() ? end_of_not_code(text, begins) : begins;
        if (at == begins && at < text.size()) {
            code += text[at++];
        }
    }
    return code;
}

using tokens = std::vector<std::string_view>;

// The words of a text, and each sign between them.
tokens tokens_of(std::string_view code) {
    tokens all;
    while (!code.empty()) {
        auto const word = std::ranges::find_if_not(code, is_word) - code.begin();
        auto const size = std::max(static_cast<std::size_t>(word), std::size_t{1});
        if (std::isspace(static_cast<unsigned char>(code.front())) == 0) {
            all.push_back(code.substr(0, size));
        }
        code.remove_prefix(size);
    }
    return all;
}

bool is_number(std::string_view word) {
    return std::ranges::all_of(word, [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
}

// Whether the word that comes first sleeps, reads a clock or draws randomness.
bool is_forbidden(std::span<std::string_view const> from) {
    static std::set<std::string_view> const anyhow{
        "steady_timer",
        "system_timer",
        "high_resolution_timer",
        "basic_waitable_timer",
        "deadline_timer",
        "cancel_after",
        "cancel_at",
        "system_clock",
        "high_resolution_clock",
        "random_device",
        "mt19937",
        "mt19937_64",
        "clock_gettime",
        "gettimeofday",
        "getrandom",
        "getentropy",
        "sleep_for",
        "wait_for",
        "nanosleep",
        "usleep",
    };
    static std::set<std::string_view> const for_their_now{"steady_clock", "utc_clock", "tai_clock"};
    static std::set<std::string_view> const for_a_call{"clock", "rand", "random", "sleep"};
    static std::set<std::string_view> const no_address{"0", "NULL", "nullptr"};
    auto const word = from.front();
    auto const next = [from](std::size_t i) {
        return i < from.size() ? from[i] : std::string_view{};
    };
    if (anyhow.contains(word) || word.starts_with("arc4random")) {
        return true;
    }
    if (for_their_now.contains(word)) {
        return next(1) == ":" && next(2) == ":" && next(3) == "now";
    }
    if (word == "time" && next(1) == "(") {
        return (no_address.contains(next(2)) && next(3) == ")") ||
               (next(2) == "&" && next(4) == ")");
    }
    if (for_a_call.contains(word) && next(1) == "(") {
        return next(2) == ")" || (is_number(next(2)) && next(3) == ")");
    }
    return false;
}

std::vector<std::string> forbidden_in(std::string_view text) {
    auto const code = code_of(text);
    auto const all = tokens_of(code);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_forbidden(std::span{all}.subspan(i))) {
            names.emplace_back(all[i]);
        }
    }
    return names;
}

bool is_seam(source_file const& file) {
    return file.path == "src/runtime/runtime.hpp" || file.path == "src/runtime/runtime.cpp" ||
           file.path == "src/runtime/wall_clock.cpp";
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
    BOOST_TEST(seams == 3);
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
