// The recipe of the documentation for an answer that does not wait for the release.

#include "packaging/compile/answer_first.hpp"
#include "unit/in_virtual_time.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::test;
using holdfast::errc;
using steps = std::vector<std::string>;

namespace {

// The recipe takes functions without captures.
steps* seen = nullptr;
std::function<void()> fault;

asio::awaitable<void> work(holdfast::fencing_token) {
    seen->emplace_back("work");
    fault();
    co_return;
}

asio::awaitable<void> answer() {
    seen->emplace_back("answer");
    co_return;
}

void report(boost::system::error_code ec) {
    seen->push_back(ec ? ec.message() : "released");
}

struct world : in_virtual_time {
    world() {
        seen = &done;
        server.settle();
    }
    ~world() { fault = {}; }

    void place() {
        asio::co_spawn(context, place_order(client, 7, work, answer, report), asio::detached);
        server.settle();
    }

    steps done;
};

std::string const unknown = make_error_code(errc::release_unknown).message();

}  // namespace

BOOST_FIXTURE_TEST_SUITE(answer_first_recipe_test, world)

BOOST_AUTO_TEST_CASE(the_answer_is_sent_and_the_lock_is_released) {
    fault = [] {};
    place();
    BOOST_TEST((done == steps{"work", "answer", "released"}));
    BOOST_TEST(server.lock_keys().empty());
}

BOOST_AUTO_TEST_CASE(the_answer_is_sent_at_once_while_the_server_hangs) {
    fault = [this] { server.pause(); };
    place();
    BOOST_TEST((done == steps{"work", "answer"}));
    server.advance(1min);
    BOOST_TEST((done == steps{"work", "answer", unknown}));
}

BOOST_AUTO_TEST_CASE(the_answer_is_sent_at_once_while_the_server_goes_down) {
    fault = [this] { server.stop(); };
    place();
    BOOST_TEST((done == steps{"work", "answer"}));
    // Until then it may come back.
    server.advance(1min);
    BOOST_TEST((done == steps{"work", "answer", unknown}));
}

BOOST_AUTO_TEST_CASE(the_release_is_done_after_the_answer_once_the_server_is_back) {
    fault = [this] { server.stop(); };
    place();
    server.start();
    server.advance(1s);
    BOOST_TEST((done == steps{"work", "answer", "released"}));
    BOOST_TEST(server.lock_keys().empty());
}

BOOST_AUTO_TEST_SUITE_END()
