#include "redis/tls.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/verify_mode.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <new>

namespace holdfast::detail {

namespace ssl = boost::asio::ssl;

namespace {

[[noreturn]] void throw_openssl_error(char const* what) {
    auto const code = ::ERR_get_error();
    ::ERR_clear_error();
    throw boost::system::system_error(
        boost::system::error_code{static_cast<int>(code), boost::asio::error::get_ssl_category()},
        what
    );
}

void show_certificate(ssl::context& context, tls_options const& settings) {
    // Without this OpenSSL would ask for the password of an encrypted key on the terminal.
    context.set_password_callback([&](std::size_t, ssl::context::password_purpose) {
        return settings.private_key_password;
    });
    context.use_certificate_chain_file(settings.certificate_file);
    context.use_private_key_file(settings.private_key_file, ssl::context::pem);
}

void free_name(void*, void* name, CRYPTO_EX_DATA*, int, long, void*) {
    delete static_cast<std::string*>(name);
}

int name_index() {
    static int const index = ::SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, &free_name);
    return index;
}

// Boost.Redis makes its stream itself, and gives no way to name the host before the handshake: the
// context's callback does, when the handshake starts.
void say_name(SSL const* stream, int where, int) {
    if ((where & SSL_CB_HANDSHAKE_START) == 0 ||
        ::SSL_get_servername(stream, TLSEXT_NAMETYPE_host_name)) {
        return;
    }
    auto const* const name = static_cast<std::string const*>(
        ::SSL_CTX_get_ex_data(::SSL_get_SSL_CTX(stream), name_index())
    );
    if (name) {
        // OpenSSL hands the stream that it works on.
        SSL_set_tlsext_host_name(const_cast<SSL*>(stream), name->c_str());
    }
}

void set_server_name(ssl::context& context, std::string const& host) {
    boost::system::error_code not_an_address;
    boost::asio::ip::make_address(host, not_an_address);
    if (!not_an_address) {
        return;  // only names are allowed there
    }
    auto name = std::make_unique<std::string>(host);
    if (::SSL_CTX_set_ex_data(context.native_handle(), name_index(), name.get()) != 1) {
        throw_openssl_error("server name");
    }
    static_cast<void>(name.release());
    ::SSL_CTX_set_info_callback(context.native_handle(), &say_name);
}

}  // namespace

void tls_trust::store_free::operator()(void* store) const noexcept {
    ::X509_STORE_free(static_cast<X509_STORE*>(store));
}

void tls_trust::load() {
    std::error_code missing;
    auto const changed_at = settings_.ca_file.empty()
                                ? std::filesystem::file_time_type{}
                                : std::filesystem::last_write_time(settings_.ca_file, missing);
    if (store_ && (missing || changed_at == loaded_at_)) {
        return;
    }
    std::unique_ptr<void, store_free> fresh{::X509_STORE_new()};
    if (!fresh) {
        throw std::bad_alloc();
    }
    auto* const store = static_cast<X509_STORE*>(fresh.get());
    int const loaded = settings_.ca_file.empty()
                           ? ::X509_STORE_set_default_paths(store)
                           : ::X509_STORE_load_file(store, settings_.ca_file.c_str());
    if (loaded != 1) {
        throw_openssl_error("ca_file");
    }
    store_ = std::move(fresh);
    loaded_at_ = changed_at;
}

void tls_trust::apply_to(ssl::context& context) {
    load();
    ::SSL_CTX_set1_cert_store(context.native_handle(), static_cast<X509_STORE*>(store_.get()));
}

ssl::context make_tls_context(config const& settings, tls_trust& trust) {
    ssl::context context{ssl::context::tls_client};
    if (!settings.tls.enabled) {
        return context;
    }
    context.set_options(
        ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
        ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1
    );
    if (!settings.tls.certificate_file.empty()) {
        show_certificate(context, settings.tls);
    }
    auto const& host = settings.tls.host_name.empty() ? settings.host : settings.tls.host_name;
    set_server_name(context, host);
    if (settings.tls.insecure_accept_any_certificate) {
        context.set_verify_mode(ssl::verify_none);
        return context;
    }
    trust.apply_to(context);
    context.set_verify_mode(ssl::verify_peer);
    // On the context, not on the stream: Boost.Redis makes a new stream for each connection.
    context.set_verify_callback(ssl::host_name_verification(host));
    return context;
}

}  // namespace holdfast::detail
