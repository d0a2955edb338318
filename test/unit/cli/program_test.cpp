// What comes from the command line and the environment, and what must not be seen there.

#include "cli/program.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::cli;

namespace {

std::string hidden(std::string argument) {
    hide_password(argument.data());
    return argument;
}

struct output {
    int code = 0;
    std::string out;
    std::string err;
};

output run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "holdfast");
    std::vector<char*> pointers;
    for (auto& argument : arguments) {
        pointers.push_back(argument.data());
    }
    std::ostringstream out;
    std::ostringstream err;
    auto const code = program(static_cast<int>(pointers.size()), pointers.data(), out, err);
    return {code, out.str(), err.str()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_program_test)

BOOST_AUTO_TEST_CASE(passwords_disappear_from_arguments) {
    BOOST_TEST(hidden("redis://user:secret@host:1/0") == "redis://user:******@host:1/0");
    BOOST_TEST(hidden("--url=redis://:p%40ss@host") == "--url=redis://:******@host");
    BOOST_TEST(hidden("rediss://:a@b@host") == "rediss://:***@host");
    BOOST_TEST(hidden("redis://host:6379/0") == "redis://host:6379/0");
    BOOST_TEST(hidden("unix:///path/a:b@c") == "unix:///path/a:b@c");
    BOOST_TEST(
        hidden("redis-sentinel://u:pw@a,b/m?sentinel_password=xyz&sentinel_tls=on") ==
        "redis-sentinel://u:**@a,b/m?sentinel_password=***&sentinel_tls=on"
    );
    BOOST_TEST(hidden("stock:7@home") == "stock:7@home");
}

BOOST_AUTO_TEST_CASE(options_come_before_the_environment) {
    BOOST_TEST(config_of({}, nullptr).host == "127.0.0.1");
    BOOST_TEST(config_of({}, "").host == "127.0.0.1");
    BOOST_TEST(config_of({}, "redis://a").host == "a");
    global_options options;
    options.url = "redis://b";
    options.key_prefix = "shop:";
    BOOST_TEST(config_of(options, "redis://a").host == "b");
    BOOST_TEST(config_of(options, nullptr).key_prefix == "shop:");
    BOOST_CHECK_THROW(static_cast<void>(config_of({}, "gopher://a")), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(connections_are_called_after_the_process_unless_the_url_names_them) {
    auto const name = config_of({}, nullptr).client_name;
    BOOST_TEST(name.starts_with("holdfast@"));
    BOOST_TEST(name.find('/') != name.npos);
    BOOST_TEST(name.find(':') == name.npos);
    BOOST_TEST(config_of({}, "redis://a?client_name=mine").client_name == "mine");
}

BOOST_AUTO_TEST_CASE(help_is_a_success_and_a_wrong_command_line_is_not) {
    auto const help = run({"--help"});
    BOOST_TEST(help.code == 0);
    BOOST_TEST(help.out.find("force-release") != std::string::npos);
    BOOST_TEST(help.err.empty());
    BOOST_TEST(run({"--version"}).out.starts_with("holdfast "));
    auto const wrong = run({"run", "job"});
    BOOST_TEST(wrong.code == 64);
    BOOST_TEST(wrong.out.empty());
    BOOST_TEST(!wrong.err.empty());
    auto const url = run({"-u", "redis://:secret@@", "inspect", "a"});
    BOOST_TEST(url.code == 64);
    BOOST_TEST(url.err.starts_with("holdfast: "));
    BOOST_TEST(url.err.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_invalid_name_is_a_mistake_that_is_explained) {
    std::vector<std::vector<std::string>> const commands{
        {"inspect", "{a}"},
        {"force-release", "{a}"},
        {"run", "{a}", "--", "true"},
    };
    for (auto const& command : commands) {
        auto const wrong = run(command);
        BOOST_TEST(wrong.code == 64, command.front());
        BOOST_TEST(wrong.out.empty());
        BOOST_TEST(
            wrong.err.starts_with("holdfast: \"{a}\" has the same queue, counter and channel as"),
            wrong.err
        );
        BOOST_TEST(wrong.err.find("leave out the outer braces") != std::string::npos);
    }
    auto const behind = run({"--key-prefix", "{t}", "inspect", "a}"});
    BOOST_TEST(behind.code == 64);
    BOOST_TEST(behind.err.find("\"{t}a}\"") != std::string::npos, behind.err);
}

BOOST_AUTO_TEST_SUITE_END()
