// A process that wants to lead until its input ends, and acts while it does.

#include "election/term_record.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

struct party {
    asio::io_context context;
    holdfast::test::term_record record;
    holdfast::config settings;
    std::int64_t process;
};

asio::awaitable<void> lead(party& in, holdfast::client& client) {
    auto const election = client.election("scheduler");
    asio::steady_timer timer{in.context};
    auto const value = std::to_string(in.process);
    for (;;) {
        auto leads = co_await election.campaign(value);
        auto const term = leads.term().value;
        if (leads.valid()) {
            in.record.begin(in.process, term);
        }
        while (leads.valid()) {
            in.record.act(term, leads.deadline());
            timer.expires_after(5ms);
            co_await timer.async_wait(asio::use_awaitable);
        }
        in.record.end(term);
    }
}

// The client's end ends the campaign with an error.
void ignore(std::exception_ptr const&) {}

void rethrow(std::exception_ptr const& failure) {
    if (failure) {
        std::rethrow_exception(failure);
    }
}

asio::awaitable<void> run(party& in) {
    holdfast::client client{in.context.get_executor(), in.settings};
    asio::co_spawn(in.context, lead(in, client), ignore);
    asio::posix::stream_descriptor input{in.context, ::dup(STDIN_FILENO)};
    std::array<char, 64> bytes{};
    auto const into = asio::buffer(bytes);
    co_await input.async_read_some(into, asio::as_tuple(asio::use_awaitable));
    co_await client.shutdown(asio::as_tuple(asio::use_awaitable));
}

}  // namespace

// Arguments: URL, file of the record, number of the process, lease in milliseconds.
int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s URL RECORD PROCESS LEASE\n", argv[0]);
        return 2;
    }
    party here{
        .context = asio::io_context{1},
        .record = holdfast::test::term_record{argv[2]},
        .settings = holdfast::parse_url(argv[1]),
        .process = std::stoll(argv[3]),
    };
    here.settings.lease = std::chrono::milliseconds{std::stoll(argv[4])};
    asio::co_spawn(here.context, run(here), rethrow);
    here.context.run();
}
