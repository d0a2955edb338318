// `holdfast run`: a command under a lock, with everything that may become of the two.

#include "support/child_process.hpp"
#include "support/one_server.hpp"
#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

constexpr int busy = 75;
constexpr int lost = 73;
constexpr int unreachable = 69;
constexpr auto long_enough = 60s;

// The program, with the URL in its environment as in a crontab.
child_process start(std::string const& url, words arguments, bool with_input = false) {
    words all{"env", "HOLDFAST_URL=" + url, HOLDFAST_TEST_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return child_process{
        all,
        {.standard_error = child_output::pipe,
         .standard_input = with_input ? child_input::pipe : child_input::none}
    };
}

struct ended {
    int code = 0;
    std::string output;
};

ended run(std::string const& url, words arguments) {
    auto program = start(url, std::move(arguments));
    ended result;
    result.output = program.read_all(long_enough);
    result.code = program.wait(long_enough);
    return result;
}

words under(std::string const& name, std::string const& script, words options = {}) {
    words all{"run", name};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return all;
}

std::string line_of(child_process& program) {
    return program.read_line(long_enough).value_or("(end)");
}

std::string text_of(std::filesystem::path const& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

// Nobody may have waited for one that has ended.
bool lives(pid_t process) {
    auto const stat = text_of("/proc/" + std::to_string(process) + "/stat");
    return !stat.empty() && stat.find(") Z ") == stat.npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_command_has_the_lock_its_name_and_its_token) {
    redis_server server;
    auto program = start(
        server.url(),
        under("job", "echo $HOLDFAST_NAME $HOLDFAST_TOKEN; read line", {}),
        true
    );
    auto const said = line_of(program);
    BOOST_TEST(said.starts_with("job "));
    auto const token = server.probe().get("redisson_lock_token:{job}").value_or("none");
    BOOST_TEST(said == "job " + token);
    BOOST_TEST(server.probe().exists("job"));
    program.close_input();
    // `read` has failed.
    BOOST_TEST(program.wait(long_enough) == 1);
    BOOST_TEST(!server.probe().exists("job"));
}

BOOST_AUTO_TEST_CASE(the_exit_code_of_a_command_is_passed_on) {
    redis_server server;
    auto const url = server.url();
    BOOST_TEST(run(url, under("job", "exit 0")).code == 0);
    BOOST_TEST(run(url, under("job", "exit 7")).code == 7);
    BOOST_TEST(run(url, under("job", "kill -KILL $$")).code == 128 + SIGKILL);
    // A shell that runs a script stops it only for a program that dies of SIGINT itself.
    BOOST_TEST(run(url, under("job", "kill -INT $$")).code == -SIGINT);
    auto const missing = run(url, {"run", "job", "--", "no-such-program"});
    BOOST_TEST(missing.code == 127);
    BOOST_TEST(missing.output.find("no-such-program") != std::string::npos);
    BOOST_TEST(run(url, {"run", "job", "--", "/etc/passwd"}).code == 126);
    BOOST_TEST(!server.probe().exists("job"));
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_held_is_waited_for_as_long_as_the_options_say) {
    redis_server server;
    auto const url = server.url();
    auto holder = start(url, under("job", "echo mine; read line"), true);
    BOOST_TEST(line_of(holder) == "mine");
    auto const refused = run(url, under("job", "echo never", {"--no-wait"}));
    BOOST_TEST(refused.code == busy);
    BOOST_TEST(refused.output == "holdfast: 'job' is held by another holder\n");
    BOOST_TEST(run(url, under("job", "echo never", {"-n", "-q"})).output.empty());
    BOOST_TEST(run(url, under("job", "echo never", {"--wait", "200ms"})).code == busy);

    auto waiter = start(url, under("job", "echo mine now"));
    BOOST_TEST(eventually(long_enough, [&] {
        return server.probe().exists("holdfast_queue:{job}");
    }));
    holder.close_input();
    BOOST_TEST(line_of(waiter) == "mine now");
    BOOST_TEST(waiter.wait(long_enough) == 0);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait) {
    redis_server server;
    auto const url = server.url();
    auto holder = start(url, under("job", "echo mine; read line"), true);
    BOOST_TEST(line_of(holder) == "mine");
    auto waiter = start(url, under("job", "echo never"));
    BOOST_TEST(eventually(long_enough, [&] {
        return server.probe().exists("holdfast_queue:{job}");
    }));
    BOOST_TEST(waiter.kill(SIGTERM) == 128 + SIGTERM);
    BOOST_TEST(waiter.read_all().empty());
    BOOST_TEST(!server.probe().exists("holdfast_queue:{job}"));
}

BOOST_AUTO_TEST_CASE(a_signal_is_passed_on_and_the_lock_is_held_until_the_command_has_ended) {
    redis_server server;
    auto const script = "trap 'echo told; read line; exit 9' TERM; echo ready; read line";
    auto program = start(server.url(), under("job", script), true);
    BOOST_TEST(line_of(program) == "ready");
    program.signal(SIGTERM);
    BOOST_TEST(line_of(program) == "told");
    BOOST_TEST(server.probe().exists("job"));
    program.close_input();
    BOOST_TEST(program.wait(long_enough) == 9);
    BOOST_TEST(!server.probe().exists("job"));
}

BOOST_AUTO_TEST_CASE(what_a_command_leaves_behind_is_ended_before_the_lock_is_given_back) {
    redis_server server;
    auto const script = "sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & read line; exit 3";
    auto program = start(server.url(), under("job", script, {"--kill-after", "100ms"}), true);
    auto const left_behind = static_cast<pid_t>(std::stol(line_of(program)));
    program.close_input();
    BOOST_TEST(program.wait(long_enough) == 3);
    BOOST_TEST(eventually(long_enough, [&] { return !lives(left_behind); }));
    BOOST_TEST(!server.probe().exists("job"));
}

BOOST_AUTO_TEST_CASE(a_command_that_lost_its_lock_gets_term_and_then_kill) {
    redis_server server;
    // The next renewal, a third of a second later, tells of it.
    auto const quick = words{"--lease", "1s"};
    auto polite = start(
        server.url(),
        under("job", "trap 'echo told; exit 0' TERM; echo ready; read line", quick),
        true
    );
    BOOST_TEST(line_of(polite) == "ready");
    server.probe().del("job");
    BOOST_TEST(line_of(polite).ends_with("is lost (deleted): ending the command"));
    BOOST_TEST(line_of(polite) == "told");
    BOOST_TEST(polite.wait(long_enough) == lost);

    auto stubborn = start(
        server.url(),
        under(
            "job",
            "trap '' TERM; echo ready; read line",
            {"--lease", "1s", "--kill-after", "50ms"}
        ),
        true
    );
    BOOST_TEST(line_of(stubborn) == "ready");
    server.probe().del("job");
    BOOST_TEST(stubborn.wait(long_enough) == lost);
    BOOST_TEST(stubborn.read_all().find("killing it") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_command_is_ended_when_the_server_stands_still_for_a_lease) {
    redis_server server;
    auto program = start(server.url(), under("job", "echo ready; sleep 1000", {"--lease", "1s"}));
    BOOST_TEST(line_of(program) == "ready");
    server.pause();
    BOOST_TEST(line_of(program).ends_with("is lost (unreachable): ending the command"));
    BOOST_TEST(program.wait(long_enough) == lost);
    server.resume();
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_told_from_a_lock_that_is_held) {
    auto const nowhere = "unix:///nonexistent/socket";
    auto const quick = words{"--lease", "1s"};
    BOOST_TEST(run(nowhere, under("job", "echo never", quick)).code == unreachable);
    BOOST_TEST(
        run(nowhere, under("job", "echo never", {"--lease", "1s", "-n"})).code == unreachable
    );
    auto const limited = words{"--lease", "1s", "--wait", "300ms"};
    BOOST_TEST(run(nowhere, under("job", "echo never", limited)).code == unreachable);
}

BOOST_AUTO_TEST_CASE(commands_under_locks_may_take_other_locks) {
    redis_server server;
    auto const url = server.url();
    std::string const program = HOLDFAST_TEST_PROGRAM;
    auto const both =
        run(url,
            under(
                "outer",
                "echo $HOLDFAST_NAME; " + program + " run inner -- sh -c 'echo $HOLDFAST_NAME'; " +
                    program + " run -n outer -- true; echo $?; echo $HOLDFAST_NAME; exit 4"
            ));
    BOOST_TEST(both.code == 4);
    BOOST_TEST(
        both.output == "outer\ninner\nholdfast: 'outer' is held by another holder\n75\nouter\n"
    );
}

BOOST_AUTO_TEST_CASE(processes_of_two_hosts_never_run_at_the_same_time) {
    // One host reaches the server by its socket, the other one by TCP.
    redis_server server{{.tcp = true}};
    auto const counter = server.folder() / "counter";
    std::ofstream{counter} << "0\n";
    auto const script =
        "read n <" + counter.string() + "; sleep 0.01; echo $((n + 1)) >" + counter.string();
    std::vector<child_process> all;
    for (int i = 0; i < 12; ++i) {
        all.push_back(start(i % 2 == 0 ? server.url() : server.tcp_url(), under("count", script)));
    }
    for (auto& each : all) {
        BOOST_TEST(each.wait(long_enough) == 0);
    }
    BOOST_TEST(text_of(counter) == "12\n");
}

BOOST_AUTO_TEST_CASE(readers_share_a_lock_and_permits_are_counted) {
    redis_server server;
    auto const url = server.url();
    auto reader = start(url, under("page", "echo reads; read line", {"--shared"}), true);
    BOOST_TEST(line_of(reader) == "reads");
    BOOST_TEST(run(url, under("page", "exit 5", {"--shared", "-n"})).code == 5);
    BOOST_TEST(run(url, under("page", "exit 5", {"--exclusive", "-n"})).code == busy);
    reader.close_input();
    BOOST_TEST(reader.wait(long_enough) == 1);
    BOOST_TEST(run(url, under("page", "exit 5", {"--exclusive", "-n"})).code == 5);

    auto const two = words{"--permits", "2", "--limit", "3", "-n"};
    BOOST_TEST(run(url, under("pool", "exit 5", {"--permits", "1", "-n"})).code == 64);
    auto holder = start(url, under("pool", "echo has; read line", two), true);
    BOOST_TEST(line_of(holder) == "has");
    BOOST_TEST(run(url, under("pool", "exit 5", two)).code == busy);
    BOOST_TEST(run(url, under("pool", "exit 5", {"--permits", "1", "-n"})).code == 5);
    BOOST_TEST(run(url, under("pool", "exit 5", {"--permits", "1", "--limit", "9"})).code == 64);
    holder.close_input();
    BOOST_TEST(holder.wait(long_enough) == 1);
}

BOOST_AUTO_TEST_CASE(a_command_does_not_outlive_the_program_that_keeps_its_lock) {
    redis_server server;
    auto program = start(server.url(), under("job", "echo $$; exec sleep 1000"));
    auto const command = static_cast<pid_t>(std::stol(line_of(program)));
    BOOST_TEST(program.kill(SIGKILL) == -SIGKILL);
    BOOST_TEST(eventually(long_enough, [&] { return !lives(command); }));
}

namespace {

// Each writes the process id of something that it has started, which goes on for ever.
constexpr auto forever = "sh -c 'echo $$ >&3; exec sleep 1000' 3>&1";
std::vector<std::string> const jobs{
    // A process group of its own.
    std::string{"timeout 1000 "} + forever + "; true",
    std::string{"set -m; "} + forever + " & wait",
    // The shell alone is the child.
    std::string{"{ "} + forever + "; } 3>&1 | cat; true",
    // A session of its own.
    std::string{"setsid "} + forever + " & wait",
};

words under_bash(std::string const& job, words options = {}) {
    words all{"run", "job", "--lease", "1s"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", "bash", "-c", job});
    return all;
}

pid_t process_of(child_process& program) {
    return static_cast<pid_t>(std::stol(line_of(program)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_of_a_job_lives_on_when_the_program_is_told_to_end) {
    redis_server server;
    for (auto const& job : jobs) {
        auto program = start(server.url(), under_bash(job));
        auto const started = process_of(program);
        BOOST_TEST(program.kill(SIGTERM) == 128 + SIGTERM, job);
        BOOST_TEST(!lives(started), job);
        BOOST_TEST(!server.probe().exists("job"));
    }
}

BOOST_AUTO_TEST_CASE(nothing_of_a_job_lives_on_when_the_program_is_killed) {
    redis_server server;
    for (auto const& job : jobs) {
        auto program = start(server.url(), under_bash(job));
        auto const started = process_of(program);
        BOOST_TEST(program.kill(SIGKILL) == -SIGKILL, job);
        BOOST_TEST(eventually(long_enough, [&] { return !server.probe().exists("job"); }));
        BOOST_TEST(!lives(started), job);
    }
}

BOOST_AUTO_TEST_CASE(a_job_that_ignores_term_does_not_outlive_the_lock_when_the_program_is_killed) {
    redis_server server;
    auto const job = "trap '' TERM; echo $$; " + jobs.back();
    auto program = start(
        server.url(),
        {"run", "job", "--lease", "2s", "--kill-after", "10s", "--", "bash", "-c", job}
    );
    auto const leader = process_of(program);
    auto const started = process_of(program);
    BOOST_TEST(program.kill(SIGKILL) == -SIGKILL);
    BOOST_TEST(eventually(long_enough, [&] { return !server.probe().exists("job"); }));
    BOOST_TEST(!lives(leader));
    BOOST_TEST(!lives(started));
}

BOOST_AUTO_TEST_CASE(a_job_has_what_is_left_of_the_renewed_lease_when_the_program_is_killed) {
    redis_server server;
    auto const job =
        "trap 'sleep 0.2; echo done; exit' TERM; sleep 2.5; echo ready; sleep 1000 & wait";
    auto program = start(
        server.url(),
        {"run", "job", "--lease", "2s", "--kill-after", "10s", "--", "bash", "-c", job}
    );
    // The lease has been renewed: that of the grant has ended.
    BOOST_TEST(line_of(program) == "ready");
    program.signal(SIGKILL);
    BOOST_TEST(line_of(program) == "done");
}

BOOST_AUTO_TEST_CASE(nothing_of_a_job_lives_on_when_the_lock_is_lost) {
    redis_server server;
    for (auto const& job : jobs) {
        auto program = start(server.url(), under_bash(job));
        auto const started = process_of(program);
        server.probe().del("job");
        BOOST_TEST(program.wait(long_enough) == lost, job);
        BOOST_TEST(!lives(started), job);
    }
}

BOOST_AUTO_TEST_CASE(a_daemon_lives_on_if_that_is_wanted) {
    redis_server server;
    auto const job = std::string{"timeout 1000 "} + forever + " & setsid " + forever + " & wait";
    auto program = start(server.url(), under_bash(job, {"--leave-daemons"}));
    auto const one = process_of(program);
    auto const other = process_of(program);
    BOOST_TEST(program.kill(SIGTERM) == 128 + SIGTERM);
    BOOST_TEST(!server.probe().exists("job"));
    auto const daemon = ::getsid(one) == one ? one : other;
    BOOST_TEST(lives(daemon));
    BOOST_TEST(!lives(daemon == one ? other : one));
    ::kill(daemon, SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_command_is_ended_by_the_program_if_its_guard_is_killed) {
    redis_server server;
    auto program = start(
        server.url(),
        under("job", "echo $PPID; setsid sh -c 'echo $$; exec sleep 1000' & wait")
    );
    auto const guard = process_of(program);
    auto const started = process_of(program);
    ::kill(guard, SIGKILL);
    BOOST_TEST(line_of(program).find("was killed: killing the command") != std::string::npos);
    BOOST_TEST(program.wait(long_enough) == 128 + SIGKILL);
    BOOST_TEST(!lives(started));
    BOOST_TEST(!server.probe().exists("job"));
}

BOOST_AUTO_TEST_CASE(as_the_first_process_it_waits_for_orphans) {
    words const contained{"unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"};
    auto may = contained;
    may.push_back("true");
    if (child_process{may, {.standard_error = child_output::discard}}.wait(long_enough) != 0) {
        BOOST_TEST_MESSAGE("skipped: this user may not make a process namespace");
        return;
    }
    redis_server server;
    auto all = contained;
    // One is below the guard, the other one below the program itself.
    auto const orphans =
        "for i in 1 2 3; do (true &); nsenter --target 1 --pid --mount sh -c '(true &)'; done; ";
    all.insert(
        all.end(),
        {"env",
         "HOLDFAST_URL=" + server.url(),
         HOLDFAST_TEST_PROGRAM,
         "run",
         "job",
         "--",
         "bash",
         "-c",
         std::string{orphans} + "sleep 0.2; grep -l '^State:.Z' /proc/[0-9]*/status | wc -l"}
    );
    child_process program{all, {.standard_error = child_output::pipe}};
    BOOST_TEST(line_of(program) == "0");
    BOOST_TEST(program.wait(long_enough) == 0);
}

BOOST_AUTO_TEST_CASE(a_command_inherits_what_the_program_was_started_with_and_no_more) {
    redis_server server;
    std::string const program = HOLDFAST_TEST_PROGRAM;
    auto const script = "ls /proc/self/fd | wc -l; exec 9</dev/null; trap '' HUP; " + program +
                        " run job -- sh -c 'ls /proc/self/fd | wc -l; ls -l /proc/self/fd/9; "
                        "kill -HUP $$; grep SigBlk /proc/self/status; echo alive'";
    child_process shell{
        {"env", "HOLDFAST_URL=" + server.url(), "sh", "-c", script},
        {.standard_error = child_output::pipe}
    };
    auto const before = std::stoi(line_of(shell));
    BOOST_TEST(std::stoi(line_of(shell)) == before + 1);
    BOOST_TEST(line_of(shell).ends_with("-> /dev/null"));
    BOOST_TEST(line_of(shell).ends_with("0000000000000000"));
    BOOST_TEST(line_of(shell) == "alive");
    BOOST_TEST(shell.wait(long_enough) == 0);
}

BOOST_AUTO_TEST_CASE(no_password_is_shown) {
    redis_server server{{.tcp = true, .password = "s3cret"}};
    auto const address = "127.0.0.1:" + std::to_string(server.tcp_port());
    child_process program{
        {HOLDFAST_TEST_PROGRAM,
         "--url",
         "redis://:s3cret@" + address,
         "run",
         "job",
         "--",
         "sh",
         "-c",
         "cat /proc/$PPID/cmdline; echo; env"},
        {.standard_error = child_output::pipe}
    };
    auto const output = program.read_all(long_enough);
    BOOST_TEST(output.find("redis://:******@" + address) != std::string::npos, output);
    BOOST_TEST(output.find("s3cret") == std::string::npos);
    BOOST_TEST(program.wait(long_enough) == 0);

    auto const wrong = run("redis://:wr0ng@" + address, under("job", "echo never"));
    BOOST_TEST(wrong.code == 77);
    BOOST_TEST(wrong.output.find("wr0ng") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_no_lock_is_refused) {
    redis_server server;
    server.probe().set("text", "hello");
    BOOST_TEST(run(server.url(), under("text", "echo never")).code == 65);
    BOOST_TEST(run(server.url(), {"run", "job"}).code == 64);
    BOOST_TEST(run(server.url(), under("job", "echo never", {"--lease", "1ms"})).code == 64);
    BOOST_TEST(run("redis://host:port", under("job", "echo never")).code == 64);
}

namespace {

// util-linux' script(1) gives a command a terminal, and what is written to it is typed there.
class typed_at {
public:
    typed_at(redis_server const& server, std::string const& command)
        : terminal_{
              {"env", "HOLDFAST_URL=" + server.url(), "PS1=", "script", "-qec", command, "/dev/null"
              },
              {.standard_error = child_output::pipe, .standard_input = child_input::pipe}
          } {}

    void type(std::string const& line) { BOOST_TEST(terminal_.write_line(line)); }
    // Reads on until a line has this.
    bool says(std::string const& what) {
        while (auto const line = terminal_.read_line(long_enough)) {
            if (line->find(what) != line->npos) {
                return true;
            }
        }
        return false;
    }
    int wait() { return terminal_.wait(long_enough); }

private:
    child_process terminal_;
};

// A script for a shell, in the server's folder.
std::string script_in(redis_server const& server, std::string const& text) {
    auto const path = server.folder() / "script";
    std::ofstream{path} << text;
    return path.string();
}

std::string const interrupt = "\x03";
std::string const stop = "\x1a";

}  // namespace

BOOST_AUTO_TEST_CASE(on_a_terminal_the_command_has_the_keys) {
    redis_server server;
    auto const script = script_in(
        server,
        "trap 'echo got it; exit 3' INT\necho ready\nread line\necho read $line\n"
        "while :; do read line; done\n"
    );
    typed_at terminal{server, HOLDFAST_TEST_PROGRAM " run job -- sh " + script};
    BOOST_TEST(terminal.says("ready"));
    terminal.type("hello");
    BOOST_TEST(terminal.says("read hello"));
    terminal.type(interrupt);
    BOOST_TEST(terminal.says("got it"));
    BOOST_TEST(terminal.wait() == 3);
    BOOST_TEST(!server.probe().exists("job"));
}

BOOST_AUTO_TEST_CASE(a_shell_can_stop_a_command_and_let_it_go_on) {
    redis_server server;
    auto const script = script_in(
        server,
        "trap 'echo goes on' CONT\ntrap 'echo got it; exit 3' INT\necho ready\n"
        "while :; do read line; done\n"
    );
    typed_at terminal{server, "bash --norc --noediting -i"};
    terminal.type(HOLDFAST_TEST_PROGRAM " run job -- sh " + script);
    BOOST_TEST(terminal.says("ready"));
    terminal.type(stop);
    BOOST_TEST(terminal.says("Stopped"));
    BOOST_TEST(server.probe().exists("job"));
    terminal.type("fg");
    BOOST_TEST(terminal.says("goes on"));
    terminal.type(interrupt);
    BOOST_TEST(terminal.says("got it"));
    terminal.type("exit $?");
    BOOST_TEST(terminal.wait() == 3);
}
