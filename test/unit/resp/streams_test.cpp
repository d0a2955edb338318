// The streams over sockets of this process: what a write takes, when a connect is refused, and
// which certificates TLS accepts.

#include "resp/socket_stream.hpp"
#include "resp/tls_stream.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace holdfast::detail::resp;
using namespace std::chrono_literals;
using holdfast::error_code;
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;

namespace {

error_code connect(
    asio::io_context& context,
    byte_stream& stream,
    byte_stream::endpoint const& to
) {
    std::optional<error_code> result;
    stream.async_connect(to, [&](error_code ec) { result = ec; });
    context.restart();
    for (auto i = 0; i < 1000 && !result; ++i) {
        context.run_one_for(10ms);
    }
    BOOST_REQUIRE(result.has_value());
    return *result;
}

struct tcp_pair {
    asio::io_context context;
    tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
};

struct certificate {
    std::string key;
    std::string text;
};

std::string text_of(BIO* bio) {
    char* data = nullptr;
    auto const size = BIO_get_mem_data(bio, &data);
    std::string text{data, static_cast<std::size_t>(size)};
    ::BIO_free(bio);
    return text;
}

certificate make_certificate(char const* common_name, char const* other_names) {
    auto* const key = EVP_EC_gen("P-256");
    auto* const made = ::X509_new();
    ::X509_set_version(made, 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(made), 1);
    ::X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    ::X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    ::X509_set_pubkey(made, key);
    auto* const subject = ::X509_get_subject_name(made);
    ::X509_NAME_add_entry_by_txt(
        subject,
        "CN",
        MBSTRING_ASC,
        reinterpret_cast<unsigned char const*>(common_name),
        -1,
        -1,
        0
    );
    ::X509_set_issuer_name(made, subject);
    if (other_names) {
        auto* const names =
            ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, other_names);
        ::X509_add_ext(made, names, -1);
        ::X509_EXTENSION_free(names);
    }
    ::X509_sign(made, key, ::EVP_sha256());
    auto* const key_text = ::BIO_new(::BIO_s_mem());
    ::PEM_write_bio_PrivateKey(key_text, key, nullptr, nullptr, 0, nullptr, nullptr);
    auto* const certificate_text = ::BIO_new(::BIO_s_mem());
    ::PEM_write_bio_X509(certificate_text, made);
    ::X509_free(made);
    ::EVP_PKEY_free(key);
    return {text_of(key_text), text_of(certificate_text)};
}

/// A TLS server that accepts one connection and returns what it reads.
struct tls_server : tcp_pair {
    explicit tls_server(certificate const& own, bool asks = false) {
        server.use_certificate(asio::buffer(own.text), ssl::context::pem);
        server.use_private_key(asio::buffer(own.key), ssl::context::pem);
        server.set_verify_mode(asks ? ssl::verify_peer : ssl::verify_none);
        client->add_certificate_authority(asio::buffer(own.text));
        client->set_verify_mode(ssl::verify_peer);
        peer.emplace(context, server);  // it takes over what the context has by now
        acceptor.async_accept(peer->next_layer(), [this](error_code ec) {
            if (!ec) {
                peer->async_handshake(ssl::stream_base::server, [this](error_code failed) {
                    if (!failed) {
                        echo();
                    }
                });
            }
        });
    }

    void echo() {
        peer->async_read_some(asio::buffer(bytes), [this](error_code ec, std::size_t size) {
            if (!ec) {
                asio::async_write(*peer, asio::buffer(bytes, size), [](error_code, std::size_t) {});
            }
        });
    }
    error_code connect_to(tls_peer whom) {
        stream.emplace(context.get_executor(), 1s, client, std::move(whom));
        return connect(context, *stream, acceptor.local_endpoint());
    }

    ssl::context server{ssl::context::tls_server};
    std::shared_ptr<ssl::context> client = std::make_shared<ssl::context>(ssl::context::tls_client);
    std::optional<ssl::stream<tcp::socket>> peer;
    std::array<char, 100> bytes{};
    std::optional<tls_stream> stream;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(streams_test)

BOOST_AUTO_TEST_CASE(a_write_takes_what_the_kernel_takes) {
    tcp_pair p;
    socket_stream stream{p.context.get_executor(), 1s};
    BOOST_TEST(!connect(p.context, stream, p.acceptor.local_endpoint()));
    BOOST_TEST(stream.taken_by_kernel());
    auto peer = p.acceptor.accept();
    std::string const block(1024 * 1024, 'x');
    std::size_t taken = 0;
    byte_stream::write_result last;
    // The kernel moves bytes from one buffer to the other meanwhile.
    do {
        last = stream.write(block);
        taken += last.taken;
        BOOST_TEST_REQUIRE(!last.error);
    } while (last.taken != 0 && taken < 100 * block.size());
    // A write that finds no room takes nothing, and does not wait.
    BOOST_TEST(last.taken == 0U);
    BOOST_TEST(last.blocked);
    bool writable = false;
    stream.async_wait_writable([&](error_code ec) { writable = !ec; });
    std::string read(taken, ' ');
    asio::read(peer, asio::buffer(read));
    p.context.restart();
    p.context.run_for(5s);
    BOOST_TEST(writable);
    stream.close();
    error_code ec;
    BOOST_TEST(asio::read(peer, asio::buffer(read), ec) == 0U);
}

BOOST_AUTO_TEST_CASE(a_closed_stream_ends_its_read) {
    tcp_pair p;
    socket_stream stream{p.context.get_executor(), 1s};
    BOOST_TEST(!connect(p.context, stream, p.acceptor.local_endpoint()));
    std::array<char, 10> to;
    std::optional<error_code> result;
    stream.async_read_some(to, [&](error_code ec, std::size_t) { result = ec; });
    stream.close();
    BOOST_TEST(!result);
    p.context.restart();
    p.context.run_for(5s);
    BOOST_TEST((result == error_code{asio::error::operation_aborted}));
}

BOOST_AUTO_TEST_CASE(a_port_without_a_listener_refuses) {
    tcp_pair p;
    auto const nowhere = p.acceptor.local_endpoint();
    p.acceptor.close();
    socket_stream stream{p.context.get_executor(), 1s};
    auto const refused = connect(p.context, stream, nowhere);
    BOOST_TEST((refused == error_code{asio::error::connection_refused}));
}

BOOST_AUTO_TEST_CASE(a_unix_socket_whose_backlog_is_full_refuses) {
    using local = asio::local::stream_protocol;
    asio::io_context context;
    auto const path = "/tmp/holdfast_backlog_" + std::to_string(::getpid());
    ::unlink(path.c_str());
    local::acceptor acceptor{context};
    acceptor.open();
    acceptor.bind(path);
    acceptor.listen(1);
    std::vector<local::socket> waiting;
    error_code full;
    while (!full && waiting.size() < 50) {
        auto& one = waiting.emplace_back(context, local{});
        one.native_non_blocking(true);
        auto const to = local::endpoint{path};
        if (::connect(one.native_handle(), to.data(), static_cast<socklen_t>(to.size())) != 0) {
            full = asio::error::try_again;
        }
    }
    BOOST_TEST(waiting.size() < 50U);
    socket_stream stream{context.get_executor(), 1s};
    auto const refused = connect(context, stream, local::endpoint{path});
    BOOST_TEST((refused == error_code{asio::error::connection_refused}));
    ::unlink(path.c_str());
}

BOOST_AUTO_TEST_CASE(tls_carries_bytes_both_ways) {
    tls_server s{make_certificate("unused", "DNS:server.example,IP:127.0.0.1")};
    BOOST_TEST(!s.connect_to({"server.example."}));
    BOOST_TEST(!s.stream->taken_by_kernel());
    BOOST_TEST(!s.stream->certificate_requested());
    std::string const sent = "hello";
    auto const result = s.stream->write(sent);
    BOOST_TEST(result.taken == sent.size());
    BOOST_TEST(result.blocked);
    bool written = false;
    s.stream->async_wait_writable([&](error_code ec) { written = !ec; });
    std::array<char, 10> to;
    std::size_t size = 0;
    s.stream->async_read_some(to, [&](error_code, std::size_t n) { size = n; });
    s.context.restart();
    s.context.run_for(5s);
    BOOST_TEST(written);
    BOOST_TEST(std::string_view(to.data(), size) == sent);
}

BOOST_AUTO_TEST_CASE(tls_accepts_a_certificate_for_an_address) {
    tls_server s{make_certificate("unused", "IP:127.0.0.1")};
    BOOST_TEST(!s.connect_to({"127.0.0.1"}));
    tls_server other{make_certificate("127.0.0.1", "IP:127.0.0.2,DNS:127.0.0.1")};
    BOOST_TEST(static_cast<bool>(other.connect_to({"127.0.0.1"})));
}

BOOST_AUTO_TEST_CASE(tls_refuses_a_certificate_for_another_host) {
    tls_server other{make_certificate("server.example", "DNS:other.example")};
    BOOST_TEST(static_cast<bool>(other.connect_to({"server.example"})));
    tls_server common_name_only{make_certificate("server.example", nullptr)};
    BOOST_TEST(static_cast<bool>(common_name_only.connect_to({"server.example"})));
    tls_server partial{make_certificate("unused", "DNS:s*.example.org")};
    BOOST_TEST(static_cast<bool>(partial.connect_to({"server.example.org"})));
    tls_server nameless{make_certificate("unused", "DNS:server.example")};
    BOOST_TEST(static_cast<bool>(nameless.connect_to({""})));
}

BOOST_AUTO_TEST_CASE(tls_refuses_what_a_careless_context_accepts) {
    tls_server s{make_certificate("unused", "DNS:other.example")};
    s.client->set_verify_mode(ssl::verify_none);
    BOOST_TEST(static_cast<bool>(s.connect_to({"server.example"})));
}

BOOST_AUTO_TEST_CASE(tls_without_verification_accepts_any_certificate) {
    tls_server s{make_certificate("unused", "DNS:other.example")};
    s.client->set_verify_mode(ssl::verify_none);
    BOOST_TEST(!s.connect_to({"server.example", false}));
}

BOOST_AUTO_TEST_CASE(tls_knows_that_the_server_asked_for_a_certificate) {
    tls_server s{make_certificate("unused", "DNS:server.example"), true};
    BOOST_TEST(!s.connect_to({"server.example"}));
    BOOST_TEST(s.stream->certificate_requested());
}

BOOST_AUTO_TEST_SUITE_END()
