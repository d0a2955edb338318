// Completion knows every command and every option, and the shells understand it.

#include "cli/completion.hpp"

#include <boost/test/unit_test.hpp>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace holdfast::cli;

namespace {

program_model model() {
    command_line line;
    return describe(*define(line));
}

// A file that is gone with it.
class script_file {
public:
    explicit script_file(std::string const& text)
        : path_{
              std::filesystem::temp_directory_path() /
              ("holdfast-completion-" + std::to_string(::getpid()))
          } {
        std::ofstream{path_} << text;
    }
    script_file(script_file const&) = delete;
    script_file& operator=(script_file const&) = delete;
    ~script_file() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

// What bash would offer after these words. The last one is being typed.
std::string offered(std::vector<std::string> const& typed) {
    script_file const script{completion_for("bash", model())};
    std::string command = "bash -c 'source " + script.path() + "; COMP_WORDS=(holdfast";
    for (auto const& word : typed) {
        command += " \"" + word + "\"";
    }
    command += "); COMP_CWORD=" + std::to_string(typed.size()) +
               "; _holdfast; echo \"${COMPREPLY[*]}\"' 2>&1";
    std::string output;
    auto* const pipe = ::popen(command.c_str(), "r");
    BOOST_REQUIRE(pipe != nullptr);
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) {
        output += static_cast<char>(c);
    }
    BOOST_TEST(::pclose(pipe) == 0);
    return output;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_completion_test)

BOOST_AUTO_TEST_CASE(each_shell_gets_each_command_and_option) {
    auto const all = model();
    for (auto const* const shell : {"bash", "zsh", "fish"}) {
        auto const script = completion_for(shell, all);
        auto const has = [&](std::string const& text) {
            BOOST_TEST(script.find(text) != script.npos, shell << " lacks " << text);
        };
        bool const fish = std::string{shell} == "fish";
        for (auto const& command : all.commands) {
            has(command.name);
            for (auto const& option : command.options) {
                auto const& name = option.names.back();
                has(fish && name.starts_with("--") ? " -l " + name.substr(2) : name);
            }
        }
        has("always");
    }
    BOOST_TEST(completion_for("tcsh", all).empty());
}

BOOST_AUTO_TEST_CASE(the_installed_shells_understand_it) {
    int shells = 0;
    for (std::string const shell : {"bash", "zsh", "fish"}) {
        if (std::system(("command -v " + shell + " >/dev/null").c_str()) == 0) {
            script_file const script{completion_for(shell, model())};
            BOOST_TEST(std::system((shell + " -n " + script.path()).c_str()) == 0, shell);
            ++shells;
        }
    }
    BOOST_TEST(shells > 0);
}

BOOST_AUTO_TEST_CASE(bash_offers_what_fits) {
    BOOST_TEST(offered({"ins"}) == "inspect");
    BOOST_TEST(offered({"--json", "f"}) == "force-release");
    BOOST_TEST(offered({"run", "--leas"}) == "--lease");
    BOOST_TEST(offered({"run", "job", "--key"}) == "--key-prefix");
    BOOST_TEST(offered({"inspect", "--kind", "re"}) == "read-write");
    BOOST_TEST(offered({"--color", "al"}) == "always");
    BOOST_TEST(offered({"completion", "z"}) == "zsh");
    // The word behind an option with a value is no command.
    BOOST_TEST(offered({"-u", "run", "wat"}) == "watch");
    BOOST_TEST(offered({"run", "job", "--", "ba"}).find("bash") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
