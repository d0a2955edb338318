// asio::use_future in every operation. A process that has used it has no threads but its own: those
// of Asio's system_executor would make a forked child that ends with exit() crash.

#include <boost/asio/use_future.hpp>

#include "support/child_process.hpp"

#include <holdfast.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

std::size_t threads_of_this_process() {
    std::filesystem::directory_iterator const all{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct world {
    // What a future came to; what it throws is no matter.
    template <class T>
    void get(std::future<T> one) {
        auto const is_ready = [&] { return one.wait_for(0s) == std::future_status::ready; };
        if (!server.advance_until(is_ready, 10min)) {
            throw std::runtime_error("an operation has not ended");
        }
        try {
            static_cast<void>(one.get());
        } catch (boost::system::system_error const&) {
        }
    }
    template <class T>
    T result_of(std::future<T> one) {
        auto const is_ready = [&] { return one.wait_for(0s) == std::future_status::ready; };
        if (!server.advance_until(is_ready, 10min)) {
            throw std::runtime_error("an operation has not ended");
        }
        return one.get();
    }

    template <class Lock>
    void use(Lock const& on) {
        auto held = result_of(on.acquire(asio::use_future));
        get(on.try_acquire_for(1s, asio::use_future));
        get(on.try_acquire(asio::use_future));
        auto lost = held.wait_lost(asio::use_future);
        get(held.renew(asio::use_future));
        get(held.release(asio::use_future));
        get(std::move(lost));
    }
    void use_all() {
        get(client.ready(asio::use_future));
        use(client.lock("a"));
        use(client.fair_lock("fair"));
        use(client.read_write_lock("rw").read());
        use(client.read_write_lock("rw").write());
        use(client.semaphore("pool").limit(2));
        use(holdfast::multi_lock{client.lock("a"), client.lock("b")});
        get(client.lock("a").inspect(asio::use_future));
        get(client.lock("a").force_release(asio::use_future));
        get(client.semaphore("pool").inspect(asio::use_future));
        get(client.semaphore("pool").available(asio::use_future));
        get(client.semaphore("other pool").try_set_permits(2, asio::use_future));
        auto const pool = client.counting_semaphore("count");
        get(pool.try_set_permits(2, asio::use_future));
        get(pool.acquire(asio::use_future));
        get(pool.release(asio::use_future));
        get(pool.drain(asio::use_future));
        auto const latch = client.latch("latch");
        get(latch.try_set(1, asio::use_future));
        get(latch.count_down(asio::use_future));
        get(latch.wait(asio::use_future));
        auto const election = client.election("election");
        auto leads = result_of(election.campaign("me", asio::use_future));
        get(election.leader(asio::use_future));
        get(leads.proclaim("still me", asio::use_future));
        get(leads.resign(asio::use_future));
        get(client.drain(1s, asio::use_future));
        // The server runs the contexts of clients that have not ended.
        auto ended = client.shutdown(asio::use_future);
        server.settle();
        context.restart();
        context.run();
        get(std::move(ended));
    }

    asio::io_context context;
    holdfast::testing::memory_server server{holdfast::testing::virtual_time};
    holdfast::client client{context, server};
};

template <class T>
void is_refused(std::future<T> result) {
    BOOST_TEST_REQUIRE((result.wait_for(10s) == std::future_status::ready));
    BOOST_CHECK_THROW(result.get(), boost::system::system_error);
}

void use_empty_ones() {
    holdfast::lease lease;
    is_refused(lease.renew(asio::use_future));
    is_refused(lease.wait_lost(asio::use_future));
    is_refused(lease.release(asio::use_future));
    holdfast::multi_lease several;
    is_refused(several.release(asio::use_future));
    holdfast::quorum_lease quorum;
    is_refused(quorum.release(asio::use_future));
    holdfast::leadership leads;
    is_refused(leads.resign(asio::use_future));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(use_future_test)

// In a process of its own: other tests may have started those threads.
BOOST_AUTO_TEST_CASE(no_operation_starts_a_thread, *boost::unit_test::disabled()) {
    auto const before = threads_of_this_process();
    {
        world all;
        all.use_all();
    }
    use_empty_ones();
    BOOST_TEST(threads_of_this_process() == before);
    auto const child = ::fork();
    if (child == 0) {
        std::exit(0);
    }
    int status = -1;
    BOOST_TEST(::waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(no_operation_starts_a_thread_in_a_fresh_process) {
    holdfast::test::child_process fresh{
        {std::filesystem::read_symlink("/proc/self/exe").string(),
         "--run_test=*/use_future_test/no_operation_starts_a_thread"},
        {.standard_error = holdfast::test::child_output::pipe}
    };
    auto const said = fresh.read_all(60s);
    BOOST_TEST(fresh.wait(60s) == 0, said);
    BOOST_TEST(said.find("Running 1 test case") != said.npos, said);
}

BOOST_AUTO_TEST_SUITE_END()
