// Random words in blocks: none comes twice, not even in a process that was forked in the middle of
// a block.

#include "runtime/random_pool.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <set>

using holdfast::detail::random_pool;

BOOST_AUTO_TEST_SUITE(random_pool_test)

BOOST_AUTO_TEST_CASE(no_word_comes_twice_over_many_blocks_and_pools) {
    random_pool a;
    random_pool b;
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 200; ++i) {
        seen.insert(a.next());
        seen.insert(b.next());
    }
    BOOST_TEST(seen.size() == 400U);
}

BOOST_AUTO_TEST_CASE(a_forked_process_does_not_repeat_its_parents_words) {
    random_pool pool;
    static_cast<void>(pool.next());
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    auto const child = ::fork();
    if (child == 0) {
        auto const word = pool.next();
        ::_exit(::write(ends[1], &word, sizeof word) == sizeof word ? 0 : 1);
    }
    BOOST_REQUIRE(child > 0);
    auto const ours = pool.next();
    std::uint64_t theirs = ours;
    auto const size = ::read(ends[0], &theirs, sizeof theirs);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    BOOST_TEST(status == 0);
    BOOST_TEST(size == static_cast<ssize_t>(sizeof theirs));
    BOOST_TEST(theirs != ours);
}

BOOST_AUTO_TEST_SUITE_END()
