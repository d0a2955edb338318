#ifndef HOLDFAST_REDIS_TLS_HPP
#define HOLDFAST_REDIS_TLS_HPP

#include <holdfast/config.hpp>

#include <boost/asio/ssl/context.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace holdfast::detail {

/// The authorities that a client trusts, loaded once and not for each connection: the bundle of a
/// system has hundreds. A `ca_file` is loaded again when it has changed,
/// and kept when it is gone.
class tls_trust {
public:
    explicit tls_trust(tls_options const& settings) : settings_{settings} {}

    /// @throws boost::system::system_error if the file cannot be read.
    void apply_to(boost::asio::ssl::context& context);

private:
    struct store_free {
        void operator()(void* store) const noexcept;
    };

    void load();

    tls_options settings_;
    std::unique_ptr<void, store_free> store_;  // an X509_STORE
    std::filesystem::file_time_type loaded_at_{};
};

/// For a new connection: TLS 1.2 or newer, certificate and host name verified, unless the user
/// opted out, and the host's name said to the server (SNI, RFC 6066).
/// @throws boost::system::system_error if a file cannot be read, or certificate and key do not
/// match.
[[nodiscard]] boost::asio::ssl::context make_tls_context(config const& settings, tls_trust& trust);

}  // namespace holdfast::detail

#endif
