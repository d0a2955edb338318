// The process that a command is below.

#include "cli/run/guard.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using namespace holdfast::cli;
using holdfast::lease_clock;
using holdfast::test::eventually;
using kind = guard_report::kind;

namespace {

run_options shell(std::string script) {
    run_options options;
    options.command = {"sh", "-c", std::move(script)};
    return options;
}

// A guard, and what the command writes.
struct guarded {
    explicit guarded(run_options what) : options{std::move(what)} {
        BOOST_REQUIRE(::pipe2(output.data(), O_CLOEXEC) == 0);
        auto const before = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        ::dup2(output[1], STDOUT_FILENO);
        by.emplace(options, "app/job", inherited_signals{});
        ::dup2(before, STDOUT_FILENO);
        ::close(before);
        ::close(output[1]);
        by->start({42}, false);
    }
    ~guarded() {
        by.reset();
        ::close(output[0]);
    }
    guarded(guarded const&) = delete;
    guarded& operator=(guarded const&) = delete;

    /// Nothing: it has ended.
    std::optional<guard_report> next() {
        pollfd one{by->descriptor(), POLLIN, 0};
        BOOST_REQUIRE(::poll(&one, 1, 20'000) == 1);
        guard_report report;
        auto const got = ::recv(by->descriptor(), &report, sizeof report, 0);
        return got == sizeof report ? std::optional{report} : std::nullopt;
    }
    guard_report expect(kind what) {
        auto const got = next();
        BOOST_REQUIRE(got.has_value());
        BOOST_TEST((got->what == what), static_cast<int>(got->what));
        return *got;
    }
    std::string line() {
        std::string all;
        for (char c = 0; ::read(output[0], &c, 1) == 1 && c != '\n';) {
            all += c;
        }
        return all;
    }
    /// Nobody has the other end any more.
    bool all_have_ended() {
        pollfd one{output[0], POLLIN, 0};
        char c = 0;
        return ::poll(&one, 1, 20'000) == 1 && ::read(output[0], &c, 1) == 0;
    }

    run_options options;
    std::array<int, 2> output{};
    std::optional<guard> by;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_guard_test)

BOOST_AUTO_TEST_CASE(it_tells_of_the_start_and_the_end) {
    guarded all{shell("echo $HOLDFAST_NAME $HOLDFAST_TOKEN; exit 7")};
    BOOST_TEST(all.expect(kind::started).number > 0);
    BOOST_TEST(all.line() == "app/job 42");
    BOOST_TEST(all.expect(kind::ended).number == 7 << 8);
    all.expect(kind::gone);
    BOOST_TEST(!all.next().has_value());
}

BOOST_AUTO_TEST_CASE(it_tells_why_nothing_was_started) {
    run_options nothing;
    nothing.command = {"no-such-program"};
    guarded all{nothing};
    BOOST_TEST(all.expect(kind::not_started).number == ENOENT);
    BOOST_TEST(!all.next().has_value());
}

BOOST_AUTO_TEST_CASE(the_group_gets_signals_and_stops_are_told) {
    guarded all{shell("exec 2>&-; trap 'echo told' USR1; echo ready; while :; do sleep 0.01; done")
    };
    auto const group = all.expect(kind::started).number;
    BOOST_TEST(all.line() == "ready");
    all.by->pass_on(SIGUSR1);
    BOOST_TEST(all.line() == "told");
    ::kill(group, SIGSTOP);
    BOOST_TEST(all.expect(kind::stopped).number == SIGSTOP);
    all.by->go_on();
    all.by->pass_on(SIGUSR1);
    BOOST_TEST(all.line() == "told");
    all.by->end(10s);
    BOOST_TEST(all.expect(kind::ended).number == SIGTERM);
    all.expect(kind::gone);
}

// Whatever group or session it is in, and though its parent has ended.
BOOST_AUTO_TEST_CASE(all_that_was_started_has_to_end_before_it_is_gone) {
    guarded all{shell("setsid sh -c 'trap \"\" TERM; echo ready; sleep 1000; sleep 1000' & wait")};
    all.expect(kind::started);
    BOOST_TEST(all.line() == "ready");
    all.by->end(200ms);
    all.expect(kind::ended);
    all.expect(kind::killing);
    all.expect(kind::gone);
    BOOST_TEST(all.all_have_ended());
}

BOOST_AUTO_TEST_CASE(daemons_are_left_alone_if_that_is_wanted) {
    auto options = shell("setsid sh -c 'echo $$; exec sleep 1000' & wait");
    options.leave_daemons = true;
    guarded all{options};
    all.expect(kind::started);
    auto const daemon = static_cast<pid_t>(std::stol(all.line()));
    all.by->end(10s);
    all.expect(kind::ended);
    all.expect(kind::gone);
    BOOST_TEST(::kill(daemon, 0) == 0);
    ::kill(daemon, SIGKILL);
    BOOST_TEST(all.all_have_ended());
}

// As daemon(3) does: the parent ends first.
BOOST_AUTO_TEST_CASE(a_daemon_may_leave_the_session_after_the_command_has_ended) {
    auto options =
        shell("sleep 1000 & (sleep 0.02; exec setsid sh -c 'echo $$; exec sleep 1000') &");
    options.leave_daemons = true;
    guarded all{options};
    all.expect(kind::started);
    all.expect(kind::ended);
    all.by->end(10s);
    // What stays in the session has got TERM.
    all.expect(kind::gone);
    auto const daemon = all.line();
    BOOST_REQUIRE(!daemon.empty());
    BOOST_TEST(::kill(static_cast<pid_t>(std::stol(daemon)), SIGKILL) == 0);
    BOOST_TEST(all.all_have_ended());
}

BOOST_AUTO_TEST_CASE(without_its_owner_it_ends_the_command) {
    auto options = shell("trap '' TERM; sh -c 'echo ready; sleep 1000' & wait; sleep 1000");
    options.kill_after = 50ms;
    guarded all{options};
    all.expect(kind::started);
    BOOST_TEST(all.line() == "ready");
    all.by.reset();
    BOOST_TEST(all.all_have_ended());
}

BOOST_AUTO_TEST_CASE(without_its_owner_it_kills_the_command_before_the_lease_ends) {
    auto options = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
    options.kill_after = 10s;
    guarded all{options};
    all.expect(kind::started);
    BOOST_TEST(all.line() == "ready");
    auto const deadline = lease_clock::now() + 1s;
    all.by->renewed(deadline);
    all.by.reset();
    BOOST_TEST(all.all_have_ended());
    BOOST_TEST((lease_clock::now() < deadline));
}

// The guard reads nothing while it is stopped.
BOOST_AUTO_TEST_CASE(renewals_that_are_not_read_do_not_block_the_owner) {
    guarded all{shell("echo $PPID; exec sleep 1000")};
    all.expect(kind::started);
    auto const guard_id = static_cast<pid_t>(std::stol(all.line()));
    ::kill(guard_id, SIGSTOP);
    for (int i = 0; i < 100'000; ++i) {
        all.by->renewed(lease_clock::now());
    }
    ::kill(guard_id, SIGCONT);
    all.by->end(10s);
    BOOST_TEST(all.expect(kind::ended).number == SIGTERM);
    all.expect(kind::gone);
}

BOOST_AUTO_TEST_CASE(it_is_not_found_by_the_name_of_the_program) {
    guarded all{shell("cat /proc/$PPID/comm; tr '\\0' '\\n' < /proc/$PPID/cmdline | head -n 1")};
    BOOST_TEST(all.line() == "hf-guard");
    BOOST_TEST(all.line() == "hf-guard");
}

BOOST_AUTO_TEST_CASE(an_owner_that_ends_before_the_start_leaves_nothing) {
    std::array<int, 2> output{};
    BOOST_REQUIRE(::pipe(output.data()) == 0);
    auto const options = shell("true");
    {
        guard const unused{options, "a", inherited_signals{}};
        ::close(output[1]);
    }
    // The guard had the other end, too.
    char c = 0;
    BOOST_TEST(::read(output[0], &c, 1) == 0);
    ::close(output[0]);
}

BOOST_AUTO_TEST_SUITE_END()
