// What a process has started.

#include "cli/run/process_tree.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::cli;
using holdfast::test::eventually;
using member = process_tree::member;

namespace {

std::string ids_of(process_tree const& tree) {
    std::vector<pid_t> all;
    for (auto const& one : tree.members()) {
        all.push_back(one.id);
    }
    std::ranges::sort(all);
    std::string text;
    for (auto const id : all) {
        text += (text.empty() ? "" : " ") + std::to_string(id);
    }
    return text;
}

member process(pid_t id, pid_t parent, char state = 'S', pid_t session = 1) {
    return {id, {.state = state, .parent = parent, .session = session}};
}

// A process that stands still until it is ended.
pid_t fork_one() {
    auto const made = ::fork();
    if (made == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            ::pause();
        }
    }
    return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_process_tree_test)

BOOST_AUTO_TEST_CASE(what_the_system_says_is_read_whatever_the_program_is_called) {
    std::string const rest = " 68 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10";
    auto const plain = read_process_stat("71 (sleep) S 70 69" + rest);
    BOOST_REQUIRE(plain.has_value());
    BOOST_TEST(plain->state == 'S');
    BOOST_TEST(plain->parent == 70);
    BOOST_TEST(plain->group == 69);
    BOOST_TEST(plain->session == 68);
    BOOST_TEST(plain->started == 123'456U);
    auto const odd = read_process_stat("71 (a) Z 1 2 (b) R 42 41" + rest);
    BOOST_REQUIRE(odd.has_value());
    BOOST_TEST(odd->state == 'R');
    BOOST_TEST(odd->parent == 42);
    for (auto const* const text : {"", "71", "71 (a)", "71 (a) S", "71 (a) S 70 69 68 0 -1"}) {
        BOOST_TEST(!read_process_stat(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(all_that_descend_from_one_are_below_it_in_whatever_order_they_are_listed) {
    std::vector<member> const all{
        process(9, 7),
        process(1, 0),
        process(7, 5, 'Z'),
        process(5, 1),
        process(6, 1),
        process(8, 5, 'S', 8),
    };
    BOOST_TEST(ids_of({all, 5}) == "7 8 9");
    BOOST_TEST(ids_of({all, 1}) == "5 6 7 8 9");
    BOOST_TEST(ids_of({all, 6}).empty());
    process_tree of_session{all, 5};
    of_session.keep_only_session(1);
    BOOST_TEST(ids_of(of_session) == "7 9");
}

BOOST_AUTO_TEST_CASE(one_that_has_ended_and_was_not_waited_for_does_not_live) {
    BOOST_TEST(process_tree({process(7, 5)}, 5).any_alive());
    BOOST_TEST(!process_tree({process(7, 5, 'Z')}, 5).any_alive());
    BOOST_TEST(!process_tree({}, 5).any_alive());
}

BOOST_AUTO_TEST_CASE(only_the_process_that_was_seen_gets_the_signal) {
    auto const child = fork_one();
    auto tree = process_tree::below(::getpid());
    auto const it =
        std::ranges::find_if(tree.members(), [&](member const& one) { return one.id == child; });
    BOOST_REQUIRE(it != tree.members().end());
    auto another = *it;
    // Its id would be another's by now.
    another.what.started += 1;
    process_tree({another}, ::getpid()).signal(SIGKILL);
    BOOST_TEST(::waitpid(child, nullptr, WNOHANG) == 0);
    process_tree({*it}, ::getpid()).signal(SIGKILL);
    int status = 0;
    BOOST_TEST(::waitpid(child, &status, 0) == child);
    BOOST_TEST(WTERMSIG(status) == SIGKILL);
    // It is gone.
    process_tree({*it}, ::getpid()).signal(SIGKILL);
}

BOOST_AUTO_TEST_SUITE_END()
