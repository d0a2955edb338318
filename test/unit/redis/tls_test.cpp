// What a connection with TLS insists on: which versions, whom it trusts and for which name, and the
// name that it says to the server.

#include "redis/tls.hpp"

#include "support/certificates.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace ssl = boost::asio::ssl;
using holdfast::config;
using holdfast::detail::make_tls_context;
using holdfast::detail::tls_trust;
using holdfast::test::certificate_authority;

namespace {

// A folder with an authority in it.
struct files {
    fs::path folder = fs::temp_directory_path() / ("holdfast-tls-" + std::to_string(::getpid()));
    certificate_authority authority{folder};
    files() = default;
    files(files const&) = delete;
    files& operator=(files const&) = delete;
    ~files() { fs::remove_all(folder); }
};

config for_host(std::string const& host) {
    config settings;
    settings.host = host;
    settings.tls.enabled = true;
    return settings;
}

ssl::context context_of(config const& settings) {
    tls_trust trust{settings.tls};
    return make_tls_context(settings, trust);
}

// The name in the first message of a handshake; empty for none.
std::string name_said(config const& settings) {
    auto context = context_of(settings);
    std::unique_ptr<SSL, decltype(&SSL_free)> const stream{
        SSL_new(context.native_handle()),
        &SSL_free
    };
    SSL_set_bio(stream.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_connect(stream.get());
    auto const* const name = SSL_get_servername(stream.get(), TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tls_test)

BOOST_AUTO_TEST_CASE(a_name_is_said_to_the_server_and_an_address_is_not) {
    BOOST_TEST(name_said(for_host("db.example")) == "db.example");
    BOOST_TEST(name_said(for_host("127.0.0.1")) == "");
    BOOST_TEST(name_said(for_host("::1")) == "");
    auto named = for_host("127.0.0.1");
    named.tls.host_name = "db.example";
    BOOST_TEST(name_said(named) == "db.example");
    named.tls.insecure_accept_any_certificate = true;
    BOOST_TEST(name_said(named) == "db.example");
}

BOOST_AUTO_TEST_CASE(the_server_is_verified_unless_the_user_opted_out) {
    auto settings = for_host("db.example");
    BOOST_TEST(SSL_CTX_get_verify_mode(context_of(settings).native_handle()) == SSL_VERIFY_PEER);
    settings.tls.insecure_accept_any_certificate = true;
    BOOST_TEST(SSL_CTX_get_verify_mode(context_of(settings).native_handle()) == SSL_VERIFY_NONE);
}

BOOST_AUTO_TEST_CASE(versions_that_are_broken_are_not_spoken) {
    auto context = context_of(for_host("db.example"));
    for (auto const version : {SSL_OP_NO_SSLv3, SSL_OP_NO_TLSv1, SSL_OP_NO_TLSv1_1}) {
        BOOST_TEST((SSL_CTX_get_options(context.native_handle()) & version) != 0U);
    }
}

BOOST_AUTO_TEST_CASE(the_authorities_are_loaded_once_and_again_when_their_file_has_changed) {
    files on;
    auto settings = for_host("db.example");
    settings.tls.ca_file = on.authority.ca_file();
    tls_trust trust{settings.tls};
    auto const store = [&] {
        auto context = make_tls_context(settings, trust);
        return static_cast<void const*>(SSL_CTX_get_cert_store(context.native_handle()));
    };
    auto const first = store();
    BOOST_TEST(store() == first);
    auto const& file = settings.tls.ca_file;
    fs::last_write_time(file, fs::last_write_time(file) + 1s);
    auto const second = store();
    BOOST_TEST(second != first);
    // One that is gone does no harm to a client that has read it.
    fs::remove(file);
    BOOST_TEST(store() == second);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_used_is_an_error) {
    files on;
    auto settings = for_host("db.example");
    settings.tls.ca_file = (on.folder / "none.crt").string();
    BOOST_CHECK_THROW(context_of(settings), boost::system::system_error);

    auto const mine = on.authority.issue({.common_name = "mine"});
    auto const other = on.authority.issue({.common_name = "other"});
    settings.tls.ca_file = on.authority.ca_file();
    settings.tls.certificate_file = mine.certificate_file;
    settings.tls.private_key_file = mine.key_file;
    BOOST_CHECK_NO_THROW(context_of(settings));
    settings.tls.private_key_file = other.key_file;
    BOOST_CHECK_THROW(context_of(settings), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(without_tls_no_file_is_looked_at) {
    auto settings = for_host("db.example");
    settings.tls.enabled = false;
    settings.tls.ca_file = "/nowhere/ca.crt";
    BOOST_CHECK_NO_THROW(context_of(settings));
}

BOOST_AUTO_TEST_SUITE_END()
