// A loss says what happened, whoever finds it: a renewal, the release, or with_lease.

#include "support/one_server.hpp"

#include <boost/system/system_error.hpp>

#include <string>

using namespace holdfast::test;

namespace {

constexpr auto java_holder = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1";

// What may be found in the place of our key, and the reason that is reported.
struct finding {
    char const* what;
    void (*happen)(redis_probe&);
    loss_reason reason;
};

void nothing_there(redis_probe& probe) {
    probe.del("a");
}

void another_holder(redis_probe& probe) {
    probe.del("a");
    probe.cmd("HSET", "a", java_holder, 1);
    probe.cmd("PEXPIRE", "a", 60'000);
}

void a_string(redis_probe& probe) {
    probe.set("a", "precious");
}

// `taken` means that another holder has the lock. A value that is no lock has no holder.
finding const findings[]{
    {"nothing", nothing_there, loss_reason::deleted},
    {"another holder", another_holder, loss_reason::taken},
    {"a string", a_string, loss_reason::deleted},
};

std::uint64_t counted(holdfast::loss_counts const& losses, loss_reason reason) {
    return reason == loss_reason::taken ? losses.taken : losses.deleted;
}

// A client that renews nothing while the test runs.
holdfast::config quiet(redis_server const& server, log_lines const& log) {
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1h;
    settings.log = log.sink();
    return settings;
}

// The operation finds something else than our lock.
void check_each_finding(asio::awaitable<error_code> (*operation)(holdfast::lease&)) {
    for (auto const& found : findings) {
        BOOST_TEST_CONTEXT(found.what)
        with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
            log_lines log;
            holdfast::client client{executor, quiet(server, log)};
            auto held = co_await client.lock("a").acquire();
            auto const told = watch(held);
            auto probe = server.probe();
            found.happen(probe);
            BOOST_TEST((co_await operation(held) == errc::lease_lost));
            BOOST_TEST((held.loss() == found.reason));
            BOOST_TEST(!held.valid());
            BOOST_TEST(co_await co_eventually(1s, [&] { return told->told; }));
            BOOST_TEST(!told->error, told->error.message());
            BOOST_TEST((told->reason == found.reason));
            BOOST_TEST(counted(client.stats().losses, found.reason) == 1U);
            auto const logged = [&] { return log.count(log_level::warning) > 0; };
            BOOST_TEST(co_await co_eventually(1s, logged));
        });
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_loss_that_the_renewal_finds_says_what_happened) {
    check_each_finding(renew);
}

BOOST_AUTO_TEST_CASE(a_loss_that_the_release_finds_counts_and_says_what_happened) {
    check_each_finding(release);
}

BOOST_AUTO_TEST_CASE(a_release_that_frees_the_lock_is_no_loss) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        log_lines log;
        holdfast::client client{executor, quiet(server, log)};
        auto held = co_await client.lock("a").acquire();
        auto const told = watch(held);
        BOOST_TEST(!co_await release(held));
        BOOST_TEST((held.loss() == loss_reason::none));
        BOOST_TEST(co_await co_eventually(1s, [&] { return told->told; }));
        BOOST_TEST((told->error == errc::not_held));
        BOOST_TEST(log.count(log_level::warning) == 0U, log.all());
    });
}

BOOST_AUTO_TEST_CASE(the_exception_of_with_lease_says_why_the_lease_was_lost) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        log_lines log;
        holdfast::client client{executor, quiet(server, log)};
        auto const lock = client.lock("a");
        auto probe = server.probe();
        // The release finds it, or the body is cancelled for it.
        for (bool const renews : {false, true}) {
            auto body = [&](holdfast::lease& mine) -> task {
                probe.del("a");
                if (renews) {
                    co_await renew(mine);
                    co_await sleep_for(1h);
                }
            };
            std::string said;
            error_code code;
            try {
                co_await holdfast::with_lease(lock, body);
            } catch (boost::system::system_error const& e) {
                said = e.what();
                code = e.code();
            }
            BOOST_TEST((code == errc::lease_lost), code.message());
            BOOST_TEST(said.find("deleted") != std::string::npos, said);
        }
    });
}
