// A multi-lock whose members have clients of their own, each on a thread of its own: the limits of
// its lease begin while a renewal of a member is on its way. For ThreadSanitizer.

#include "support/redis_server.hpp"

#include <holdfast.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <thread>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::acquire_options;
using holdfast::test::redis_server;

#ifdef HOLDFAST_TEST_SANITIZER
// Otherwise ThreadSanitizer takes what two threads do with sockets for synchronization, and finds
// nothing.
extern "C" char const* __tsan_default_options() {
    return "io_sync=0";
}
#endif

BOOST_AUTO_TEST_SUITE(members_test)

BOOST_AUTO_TEST_CASE(the_limits_of_a_lease_begin_while_a_member_is_renewed) {
    redis_server first;
    redis_server second;
    for (acquire_options const& with : {
             acquire_options{.lease = 1s, .max_hold = 1s},
             acquire_options{.lease = 1s, .renew = false},
         }) {
        asio::thread_pool own{1};
        asio::thread_pool others{1};
        asio::thread_pool holder{1};
        {
            holdfast::client const member{others, first.url()};
            holdfast::client const lead{own, second.url()};
            member.ready(asio::use_future).get();
            lead.ready(asio::use_future).get();
            auto busy = lead.lock("b").acquire(asio::use_future).get();
            // The first one that is named leads, and "a" is taken first.
            holdfast::multi_lock const both{lead.lock("b"), member.lock("a")};
            auto all = both.acquire(with, asio::bind_executor(holder, asio::use_future));
            // The renewal of "a" is due after a third of its lease. It is answered when all are
            // held.
            std::this_thread::sleep_for(300ms);
            first.pause();
            std::this_thread::sleep_for(80ms);
            busy.release(asio::use_future).get();
            std::this_thread::sleep_for(20ms);
            first.resume();
            auto lease = all.get();
            BOOST_TEST(lease.valid());
            std::this_thread::sleep_for(1'100ms);
            BOOST_TEST(!lease.valid());
        }
        holder.join();
        own.join();
        others.join();
    }
}

BOOST_AUTO_TEST_SUITE_END()
