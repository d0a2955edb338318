// Encrypted connections: who is believed, and that nothing goes out to anybody else. Passwords stay
// out of the log.

#include "support/certificates.hpp"
#include "support/child_process.hpp"
#include "support/one_server.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

using namespace holdfast::test;

namespace {

holdfast::config trusting(redis_server const& server) {
    auto settings = holdfast::parse_url(server.tls_url());
    settings.tls.ca_file = server.ca_file();
    return settings;
}

void check_that_it_works(holdfast::config const& settings) {
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings};
        auto [ready] = co_await client.ready(as_result);
        BOOST_TEST(!ready, ready.message());
        auto lease = co_await client.lock("a").acquire();
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

void check_that_it_is_refused(holdfast::config const& settings) {
    auto const start = std::chrono::steady_clock::now();
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings};
        auto [ready] = co_await client.ready(as_result);
        BOOST_TEST((ready == errc::tls_failed), ready.message());
        auto [acquired, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((acquired == errc::tls_failed), acquired.message());
        auto [tried, none] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((tried == errc::tls_failed), tried.message());
    });
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings};
        auto [acquired, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((acquired == errc::tls_failed), acquired.message());
    });
    BOOST_TEST((std::chrono::steady_clock::now() - start < 10s));
}

// No lock command reached the server.
void check_that_nothing_ran(redis_server const& server) {
    auto const stats = server.probe().commandstats();
    for (auto const* command : {"evalsha", "eval", "subscribe", "hello"}) {
        BOOST_TEST(!stats.contains(command), command);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_good_certificate_is_accepted, *needs_tls()) {
    redis_server server{{.tls = certificate_options{}}};
    check_that_it_works(trusting(server));
    check_that_it_works(holdfast::parse_url(server.tls_url() + "?ca_file=" + server.ca_file()));
    auto settings = trusting(server);
    settings.host = "127.0.0.1";
    check_that_it_works(settings);
    settings.tls.host_name = "localhost";
    check_that_it_works(settings);
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_host_is_refused, *needs_tls()) {
    redis_server server{
        {.tls =
             certificate_options{
                 .common_name = "localhost",
                 .subject_alternative_name = "DNS:elsewhere.example"
             }}
    };
    check_that_it_is_refused(trusting(server));
    check_that_nothing_ran(server);
    auto settings = trusting(server);
    settings.tls.host_name = "elsewhere.example";
    check_that_it_works(settings);
    auto const url = server.tls_url() + "?ca_file=" + server.ca_file();
    check_that_it_works(holdfast::parse_url(url + "&tls_host_name=elsewhere.example"));
}

BOOST_AUTO_TEST_CASE(a_certificate_of_an_unknown_authority_is_refused, *needs_tls()) {
    redis_server server{{.tls = certificate_options{}}};
    certificate_authority const other{server.folder() / "other"};
    auto settings = trusting(server);
    settings.tls.ca_file = other.ca_file();
    check_that_it_is_refused(settings);
    // Nor do the system's authorities know it.
    settings.tls.ca_file.clear();
    check_that_it_is_refused(settings);
    check_that_nothing_ran(server);
}

BOOST_AUTO_TEST_CASE(an_expired_certificate_is_refused, *needs_tls()) {
    redis_server server{{.tls = certificate_options{.expired = true}}};
    check_that_it_is_refused(trusting(server));
    check_that_nothing_ran(server);
}

// Redis says nothing to a greeting that it does not understand, so this looks like a server that
// hangs.
BOOST_AUTO_TEST_CASE(a_server_without_tls_gets_nothing_in_plain_text, *needs_tls()) {
    redis_server server{{.tcp = true, .tls = certificate_options{}}};
    auto settings = trusting(server);
    settings.port = server.tcp_port();
    settings.connect_timeout = 300ms;
    settings.request_timeout = 1s;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings};
        auto [ec, lease] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((ec == errc::unreachable || ec == errc::tls_failed), ec.message());
        BOOST_TEST(!lease);
    });
    check_that_nothing_ran(server);
}

BOOST_AUTO_TEST_CASE(a_file_of_authorities_that_has_none_in_it_is_reported, *needs_tls()) {
    redis_server server{{.tls = certificate_options{}}};
    auto settings = trusting(server);
    settings.tls.ca_file = (server.folder() / "no_authorities").string();
    std::ofstream{settings.tls.ca_file} << "nobody";
    check_that_it_is_refused(settings);
    check_that_nothing_ran(server);
}

BOOST_AUTO_TEST_CASE(a_server_that_asks_for_certificates_gets_this_clients, *needs_tls()) {
    redis_server server{{.tls = certificate_options{}, .tls_auth_clients = true}};
    auto const mine = server.issue_certificate({.common_name = "shop"});
    auto settings = trusting(server);
    settings.tls.certificate_file = mine.certificate_file;
    settings.tls.private_key_file = mine.key_file;
    check_that_it_works(settings);
    check_that_it_works(holdfast::parse_url(
        server.tls_url() + "?ca_file=" + server.ca_file() +
        "&certificate_file=" + mine.certificate_file + "&private_key_file=" + mine.key_file
    ));
    settings.tls.insecure_accept_any_certificate = true;
    check_that_it_works(settings);
}

BOOST_AUTO_TEST_CASE(a_key_may_be_encrypted, *needs_tls()) {
    redis_server server{{.tls = certificate_options{}, .tls_auth_clients = true}};
    auto const mine = server.issue_certificate({.common_name = "shop"});
    auto settings = trusting(server);
    settings.tls.certificate_file = mine.certificate_file;
    settings.tls.private_key_file = mine.key_file + ".encrypted";
    run_program(
        {"openssl",
         "ec",
         "-in",
         mine.key_file,
         "-out",
         settings.tls.private_key_file,
         "-aes256",
         "-passout",
         "pass:correct-horse"}
    );
    // OpenSSL must not ask for it at the terminal.
    check_that_it_is_refused(settings);
    settings.tls.private_key_password = "wrong-horse";
    check_that_it_is_refused(settings);
    settings.tls.private_key_password = "correct-horse";
    check_that_it_works(settings);
}

BOOST_AUTO_TEST_CASE(a_client_whose_certificate_is_missing_or_wrong_is_told, *needs_tls()) {
    redis_server server{{.tls = certificate_options{}, .tls_auth_clients = true}};
    check_that_it_is_refused(trusting(server));

    certificate_authority other{server.folder() / "other"};
    auto const foreign = other.issue({.common_name = "shop"});
    auto settings = trusting(server);
    settings.tls.certificate_file = foreign.certificate_file;
    settings.tls.private_key_file = foreign.key_file;
    check_that_it_is_refused(settings);

    // The key of another certificate, and a file with no key in it.
    settings.tls.certificate_file = server.issue_certificate({}).certificate_file;
    check_that_it_is_refused(settings);
    settings.tls.private_key_file = (server.folder() / "no_key").string();
    std::ofstream{settings.tls.private_key_file} << "nothing";
    check_that_it_is_refused(settings);
    check_that_nothing_ran(server);
}

BOOST_AUTO_TEST_CASE(verification_can_be_switched_off_on_purpose, *needs_tls()) {
    redis_server server{
        {.tls =
             certificate_options{
                 .subject_alternative_name = "DNS:elsewhere.example",
                 .expired = true
             }}
    };
    auto settings = holdfast::parse_url(server.tls_url());
    check_that_it_is_refused(settings);
    settings.tls.insecure_accept_any_certificate = true;
    check_that_it_works(settings);
}

BOOST_AUTO_TEST_CASE(
    a_certificate_that_expires_while_connected_stops_the_next_connection,
    *needs_tls()
) {
    with_server(
        {.tls = certificate_options{}},
        [](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, trusting(server)};
            co_await client.ready();
            server.use_certificate(server.issue_certificate({.expired = true}));
            server.restart(false);
            auto [ec, lease] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::tls_failed), ec.message());

            // The supervisor keeps trying.
            server.use_certificate(server.issue_certificate({}));
            server.restart(false);
            error_code last = errc::tls_failed;
            for (int i = 0; last && i < 100; ++i) {
                auto [again, granted] = co_await client.lock("a").try_acquire(as_result);
                last = again;
                co_await sleep_for(100ms);
            }
            BOOST_TEST(!last, last.message());
        }
    );
}

BOOST_AUTO_TEST_CASE(passwords_never_appear_in_the_log, *needs_tls()) {
    std::string const right = "correct-horse-battery-staple";
    std::string const wrong = "tr0ub4dor-and-3";
    log_lines log;
    with_server(
        {.tcp = true,
         .tls = certificate_options{},
         .password = right,
         .users = {"alice on >" + right + " ~* &* +@all"}},
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = trusting(server);
            settings.log = log.sink();
            for (auto const* user : {"", "alice", "nobody"}) {
                for (auto const& password : {right, wrong}) {
                    settings.username = user;
                    settings.password = password;
                    holdfast::client client{executor, settings};
                    auto [ec, lease] = co_await client.lock("a").acquire(as_result);
                    bool const good = password == right && std::string_view{user} != "nobody";
                    BOOST_TEST(!ec == good, ec.message());
                    if (good) {
                        // Connections that break and come back, and a key that is no lock.
                        server.probe().client_kill_type("normal");
                        server.probe().client_kill_type("pubsub");
                        BOOST_TEST(co_await co_eventually(5s, [&] {
                            return client.stats().reconnects > 0;
                        }));
                        server.probe().set("garbage", "x");
                        auto [corrupt, none] = co_await client.lock("garbage").acquire(as_result);
                        BOOST_TEST((corrupt == errc::corrupt_state));
                    }
                }
            }
            // A certificate that is refused, and a server that is not there.
            settings.username = "alice";
            settings.password = right;
            settings.tls.ca_file.clear();
            holdfast::client strict{executor, settings};
            auto [refused] = co_await strict.ready(as_result);
            BOOST_TEST((refused == errc::tls_failed));
            settings.tls = {};
            settings.port = 1;
            holdfast::client lost{executor, settings};
            auto [unreachable, none] = co_await lost.lock("a").try_acquire(as_result);
            BOOST_TEST((unreachable == errc::unreachable));
        }
    );
    BOOST_TEST(log.count(log_level::error) > 0U);
    BOOST_TEST(log.count(log_level::info) > 0U);
    BOOST_TEST(log.count(right) == 0U, log.all());
    BOOST_TEST(log.count(wrong) == 0U, log.all());
}

BOOST_AUTO_TEST_CASE(passwords_never_appear_in_what_is_thrown) {
    std::string const secret = "correct-horse";
    for (auto const& url :
         {"redis://alice:" + secret + "@",
          "redis://alice:" + secret + "@host:99999",
          "redis://alice:" + secret + "@host/nonsense",
          "redis://alice:" + secret + "%zz@host",
          "redis://alice:" + secret + "@host?" + secret + "=1",
          "http://alice:" + secret + "@host",
          "unix://alice:" + secret + "@",
          "redis://alice:" + secret + "@ho st"}) {
        try {
            (void)holdfast::parse_url(url);
            BOOST_ERROR("accepted: " + url);
        } catch (std::invalid_argument const& e) {
            BOOST_TEST(std::string{e.what()}.find(secret) == std::string::npos, e.what());
        }
    }
}
