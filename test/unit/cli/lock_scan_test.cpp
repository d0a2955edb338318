// Which keys and channels are whose, and a server that has gone. What is found is tested with real
// servers.

#include "cli/lock_scan.hpp"

#include "cli/server_texts.hpp"
#include "support/run.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <fnmatch.h>

#include <memory>
#include <string>
#include <vector>

using namespace holdfast::test;
using holdfast::config;
using namespace holdfast::cli;
namespace asio = boost::asio;

BOOST_AUTO_TEST_CASE(keys_tell_which_lock_they_belong_to) {
    struct known {
        std::string key;
        lock_kind kind;
        std::string name;
    };
    std::vector<known> const all{
        {"holdfast_queue:{a}", lock_kind::lock, "a"},
        {"holdfast_queue:a{b}c", lock_kind::lock, "a{b}c"},
        {"holdfast_queue:{a}{b}", lock_kind::lock, "{a}{b}"},
        {"holdfast_rwlock_queue:{a}", lock_kind::read_write_lock, "a"},
        {"holdfast_fair:{a}", lock_kind::fair_lock, "a"},
        {"holdfast_semaphore_token:{a}", lock_kind::semaphore, "a"},
        {"{a}:timeout", lock_kind::semaphore, "a"},
    };
    for (auto const& one : all) {
        auto const found = trace_of_key(one.key);
        BOOST_REQUIRE_MESSAGE(found.has_value(), one.key);
        BOOST_TEST((found->kind == one.kind), one.key);
        BOOST_TEST(found->name == one.name);
    }
    for (std::string const other :
         {"a", "holdfast_server", "holdfast_queue:", "session:timeout", "holdfast_done:{a}:1"}) {
        BOOST_TEST(!trace_of_key(other), other);
    }
    BOOST_TEST((trace_of_channel("redisson_sc:{a}")->kind == lock_kind::counting_semaphore));
    BOOST_TEST((trace_of_channel("redisson_countdownlatch__channel__{a}")->kind == lock_kind::latch)
    );
    BOOST_TEST(!trace_of_channel("news"));
}

// Names that keys tell of are compared with the pattern here, and not by the server.
BOOST_AUTO_TEST_CASE(patterns_are_those_of_the_server) {
    auto const matches = [](std::string const& pattern, std::string const& name) {
        return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    };
    BOOST_TEST(matches("a*c*e", "abcde"));
    BOOST_TEST(!matches("a*c*e", "abcdef"));
    BOOST_TEST(matches("*", ".a/b"));
    BOOST_TEST(matches("stock:?", "stock:7"));
    BOOST_TEST(matches("h[a-c]llo", "hbllo"));
    BOOST_TEST(!matches("h[^e]llo", "hello"));
    BOOST_TEST(matches("a\\*b", "a*b"));
    BOOST_TEST(!matches("a\\*b", "axb"));
    for (std::string const text : {"app:", "a*b", "[x]", "a?\\^"}) {
        BOOST_TEST(matches(pattern_of(text), text), text);
    }
    BOOST_TEST(!matches(pattern_of("a*"), "ab"));
}

BOOST_AUTO_TEST_CASE(a_scan_ends_with_the_connection) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        config settings;
        settings.request_timeout = std::chrono::milliseconds{50};
        holdfast::detail::tls_trust trust{settings.tls};
        // It was never connected.
        server_session session{executor, std::make_shared<config const>(settings), trust};
        bool thrown = false;
        try {
            auto scanning = scan_for_locks(session, "*");
            co_await std::move(scanning);
        } catch (boost::system::system_error const&) {
            thrown = true;
        }
        BOOST_TEST(thrown);
    });
}
