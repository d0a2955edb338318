// A child that a program forks has a copy of its parent's client, and shares its sockets. The copy
// refuses new operations, because its holder ids would be those of the parent.

#include "integration/quiet_client.hpp"
#include "support/one_server.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

using namespace holdfast::test;

namespace {

enum verdict { refused, something_sent, other_results, exception };

struct attempt {
    std::optional<error_code> result;
    holdfast::lease lease;
};

std::shared_ptr<attempt> acquire(asio::io_context& context, holdfast::lock const& on) {
    auto const made = std::make_shared<attempt>();
    on.acquire([made](error_code ec, holdfast::lease granted) {
        made->result = ec;
        made->lease = std::move(granted);
    });
    auto const end = std::chrono::steady_clock::now() + 5s;
    while (!made->result && std::chrono::steady_clock::now() < end) {
        context.run_one_for(100ms);
    }
    return made;
}

verdict try_in_child(asio::io_context& context, holdfast::client& client) {
    try {
        context.notify_fork(asio::execution_context::fork_child);
        auto const sent = client.stats().commands;
        auto const held = acquire(context, client.lock("held"));
        auto const free = acquire(context, client.lock("free"));
        if (client.stats().commands != sent) {
            return something_sent;
        }
        bool const both =
            held->result == errc::client_stopped && free->result == errc::client_stopped;
        return both ? refused : other_results;
    } catch (...) {
        return exception;
    }
}

std::int64_t scripts_run(redis_server const& server) {
    auto stats = server.probe().commandstats();
    return stats["evalsha"] + stats["eval"];
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_forked_child_is_refused_and_its_parent_goes_on) {
    redis_server const server;
    asio::io_context context;
    holdfast::client client{context, quiet(server.url())};
    auto const first = acquire(context, client.lock("held"));
    BOOST_REQUIRE((first->result == error_code{}));
    auto const before = scripts_run(server);

    context.notify_fork(asio::execution_context::fork_prepare);
    auto const child = ::fork();
    if (child == 0) {
        ::_exit(try_in_child(context, client));
    }
    context.notify_fork(asio::execution_context::fork_parent);
    BOOST_REQUIRE(child > 0);
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_REQUIRE(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == refused);
    BOOST_TEST(scripts_run(server) == before);

    BOOST_TEST(first->lease.valid());
    auto const second = acquire(context, client.lock("free"));
    BOOST_TEST((second->result == error_code{}));
    BOOST_TEST(second->lease.valid());
}
