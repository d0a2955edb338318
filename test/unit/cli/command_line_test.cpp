// The command line, and that the manual page has all of it.

#include "cli/command_line.hpp"

#include <boost/test/unit_test.hpp>

#include <CLI/CLI.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::cli;
using words = std::vector<std::string>;

namespace {

struct parsed {
    explicit parsed(words arguments) {
        arguments.insert(arguments.begin(), "holdfast");
        std::vector<char const*> pointers;
        for (auto const& argument : arguments) {
            pointers.push_back(argument.c_str());
        }
        app->parse(static_cast<int>(pointers.size()), pointers.data());
    }

    command_line line;
    std::shared_ptr<CLI::App> app = define(line);
};

bool is_refused(words arguments) {
    try {
        parsed const it{std::move(arguments)};
        return false;
    } catch (CLI::ParseError const&) {
        return true;
    }
}

// As in roff, where a dash that may be copied is escaped.
std::string roff(std::string const& text) {
    std::string result;
    for (char const c : text) {
        result += c == '-' ? "\\-" : std::string{c};
    }
    return result;
}

bool has_word(std::string const& text, std::string const& word) {
    auto const ends_word = [](char c) {
        return std::string{" \n,\"\\[]|"}.find(c) != std::string::npos;
    };
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        bool const begins = at == 0 || ends_word(text[at - 1]);
        auto const after = at + word.size();
        // A longer option goes on with an escaped dash.
        bool const ends =
            after == text.size() || (ends_word(text[after]) && text.compare(after, 2, "\\-") != 0);
        if (begins && ends) {
            return true;
        }
    }
    return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_command_line_test)

BOOST_AUTO_TEST_CASE(run_takes_a_command_with_options_of_its_own) {
    parsed const it{
        {"run", "--lease", "10s", "job", "--wait", "1m30s", "--", "run", "-n", "--", "--lease"}
    };
    auto const& run = it.line.run;
    BOOST_TEST(run.name == "job");
    BOOST_TEST((run.lease == 10s));
    BOOST_TEST((run.wait == 90s));
    BOOST_TEST(!run.no_wait);
    BOOST_TEST(
        run.command == (words{"run", "-n", "--", "--lease"}),
        boost::test_tools::per_element()
    );
    BOOST_TEST(it.app->got_subcommand("run"));
}

BOOST_AUTO_TEST_CASE(a_lock_may_be_called_like_a_command) {
    parsed const it{{"run", "list", "--", "true"}};
    BOOST_TEST(it.line.run.name == "list");
    BOOST_TEST(!it.app->got_subcommand("list"));
}

BOOST_AUTO_TEST_CASE(options_for_all_commands_may_stand_before_and_behind_them) {
    parsed const before{{"--json", "-u", "redis://a", "inspect", "x"}};
    parsed const behind{{"inspect", "x", "--json", "--url=redis://a", "--color", "never"}};
    BOOST_TEST(before.line.global.json);
    BOOST_TEST(behind.line.global.json);
    BOOST_TEST(before.line.global.url == behind.line.global.url);
    BOOST_TEST((behind.line.global.colour == colour_mode::never));
}

BOOST_AUTO_TEST_CASE(kinds_have_names) {
    BOOST_TEST((parsed{{"inspect", "x"}}.line.inspect.kind == lock_kind::automatic));
    parsed const it{{"force-release", "x", "--kind", "read_write_lock"}};
    BOOST_TEST((it.line.force_release.kind == lock_kind::read_write_lock));
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
    BOOST_TEST(is_refused({}));
    BOOST_TEST(is_refused({"unknown"}));
    BOOST_TEST(is_refused({"run", "job"}));
    BOOST_TEST(is_refused({"run", "job", "--lease", "soon", "--", "true"}));
    BOOST_TEST(is_refused({"run", "job", "--wait", "1s", "--no-wait", "--", "true"}));
    BOOST_TEST(is_refused({"run", "job", "--shared", "--exclusive", "--", "true"}));
    BOOST_TEST(is_refused({"run", "job", "--permits", "0", "--", "true"}));
    BOOST_TEST(is_refused({"run", "job", "--limit", "3", "--", "true"}));
    BOOST_TEST(is_refused({"inspect", "x", "--kind", "rope"}));
}

BOOST_AUTO_TEST_CASE(the_manual_page_has_each_command_and_each_option) {
    std::ifstream in{HOLDFAST_SOURCE_DIR "/src/cli/holdfast.1"};
    std::string const page{std::istreambuf_iterator<char>{in}, {}};
    command_line line;
    auto const app = define(line);
    auto const check = [&page](CLI::App const& of) {
        for (auto const* const option : of.get_options()) {
            for (auto const& name : option->get_lnames()) {
                BOOST_TEST(has_word(page, roff("--" + name)), name << " is not in the manual page");
            }
            for (auto const& name : option->get_snames()) {
                BOOST_TEST(has_word(page, roff("-" + name)), name << " is not in the manual page");
            }
        }
    };
    check(*app);
    auto const commands = app->get_subcommands([](CLI::App const*) { return true; });
    BOOST_TEST(commands.size() == 5U);
    for (auto const* const command : commands) {
        BOOST_TEST(page.find(".SS " + roff(command->get_name()) + "\n") != page.npos);
        check(*command);
    }
    BOOST_TEST(!has_word(page, roff("--no-such-option")));
    BOOST_TEST(!has_word(page, roff("--kill")));
}

BOOST_AUTO_TEST_SUITE_END()
