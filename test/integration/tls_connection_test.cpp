// What a client says and reads each time that it makes an encrypted connection.

#include "support/certificates.hpp"
#include "support/one_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <openssl/ssl.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace holdfast::test;

namespace {

using asio::ip::tcp;
namespace ssl = asio::ssl;

/// Notes for which host each client asks (SNI) and hangs up after the handshake.
class sni_listener {
public:
    explicit sni_listener(certificate const& mine) {
        tls_.use_certificate_chain_file(mine.certificate_file);
        tls_.use_private_key_file(mine.key_file, ssl::context::pem);
        SSL_CTX_set_tlsext_servername_callback(tls_.native_handle(), &sni_listener::note);
        SSL_CTX_set_tlsext_servername_arg(tls_.native_handle(), this);
        asio::co_spawn(context_, serve(), asio::detached);
        thread_ = std::thread{[this] { context_.run(); }};
    }
    sni_listener(sni_listener const&) = delete;
    sni_listener& operator=(sni_listener const&) = delete;
    ~sni_listener() {
        context_.stop();
        thread_.join();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    /// "-" for a client that did not say.
    std::vector<std::string> names() const {
        std::lock_guard const hold{mutex_};
        return names_;
    }

private:
    static int note(SSL* session, int*, void* listener) {
        auto const* const name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name);
        auto& self = *static_cast<sni_listener*>(listener);
        std::lock_guard const hold{self.mutex_};
        self.names_.emplace_back(name ? name : "-");
        return SSL_TLSEXT_ERR_OK;
    }

    asio::awaitable<void> serve() {
        for (;;) {
            auto [failed, socket] = co_await acceptor_.async_accept(as_result);
            ssl::stream<tcp::socket> client{std::move(socket), tls_};
            co_await client.async_handshake(ssl::stream_base::server, as_result);
        }
    }

    mutable std::mutex mutex_;
    std::vector<std::string> names_;
    ssl::context tls_{ssl::context::tls_server};
    asio::io_context context_{1};
    tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
    std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_server_is_told_which_host_is_meant) {
    redis_server const folder;
    certificate_authority authority{folder.folder() / "authority"};
    for (auto const& [host, host_name, expected] : std::vector<std::array<std::string, 3>>{
             {"localhost", "", "localhost"},
             {"127.0.0.1", "locks.example", "locks.example"},
             {"localhost", "locks.example", "locks.example"},
             {"127.0.0.1", "", "-"},  // an address is no name
         }) {
        sni_listener server{authority.issue({.subject_alternative_name = "DNS:localhost"})};
        run_with_deadline([&](asio::any_io_executor executor) -> task {
            holdfast::config settings;
            settings.host = host;
            settings.port = server.port();
            settings.tls.enabled = true;
            settings.tls.ca_file = authority.ca_file();
            settings.tls.host_name = host_name;
            holdfast::client client{executor, settings};
            BOOST_TEST(co_await co_eventually(5s, [&] { return !server.names().empty(); }));
            BOOST_TEST(server.names().front() == expected);
        });
    }
}

// Reading a bundle of hundreds of authorities would block the user's executor for milliseconds.
BOOST_AUTO_TEST_CASE(the_authorities_are_read_once, *needs_tls()) {
    with_server(
        {.tls = certificate_options{}},
        [](redis_server& server, asio::any_io_executor executor) -> task {
            auto const authorities = server.folder() / "authorities";
            std::filesystem::copy_file(server.ca_file(), authorities);
            auto settings = holdfast::parse_url(server.tls_url());
            settings.tls.ca_file = authorities.string();
            holdfast::client client{executor, settings};
            co_await client.ready();
            std::filesystem::remove(authorities);
            auto probe = server.probe();
            for (std::size_t round = 1; round <= 3; ++round) {
                probe.client_kill_type("normal");
                probe.client_kill_type("pubsub");
                auto const again = [&] { return client.stats().reconnects >= 2 * round; };
                BOOST_REQUIRE(co_await co_eventually(5s, again));
            }
            auto const lease = co_await client.lock("a").try_acquire();
            BOOST_TEST(lease.valid());
        }
    );
}
