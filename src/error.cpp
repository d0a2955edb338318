#include <holdfast/error.hpp>

#include <boost/asio/error.hpp>

#include <string>

namespace holdfast {

namespace {

class category final : public boost::system::error_category {
public:
    // The number makes the category equal to that of another copy of the library in the same
    // program, such as one in a plugin.
    constexpr category() noexcept : error_category{0xe638'2f41'b95c'd017} {}

    [[nodiscard]] char const* name() const noexcept override { return "holdfast"; }

    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
            case errc::invalid_name:
                return "the name is empty, longer than 512 bytes, or has keys in common with "
                       "another "
                       "name: the log says what to write instead";
            case errc::invalid_lease:
                return "the lease duration is out of range, or too short for the time-outs";
            case errc::invalid_options: return "an option is out of range";
            case errc::too_many_waiters:
                return "too many operations of this client wait for the lock";
            case errc::lease_lost: return "the lease was lost before it was released";
            case errc::release_unknown: return "nobody answered whether the release took place";
            case errc::not_held: return "there is no lease, or it was released already";
            case errc::not_replicated: return "too few replicas confirmed the write";
            case errc::quorum_not_reached:
                return "fewer than a majority of the nodes could be asked";
            case errc::corrupt_state: return "the key holds something that is not a lock";
            case errc::auth_failed: return "the server refused the user name or the password";
            case errc::no_permission:
                return "the server's access rules forbid a command, key or channel that is needed";
            case errc::tls_failed: return "the TLS handshake failed";
            case errc::unsupported_server: return "the server cannot serve locks: the log says why";
            case errc::server_refused:
                return "the server refuses the request at the moment: the log says why";
            case errc::client_stopped: return "the client was stopped";
            case errc::unreachable: return "no server could be reached in time";
            case errc::would_deadlock:
                return "its owner has the lock for reading, and would wait for itself";
            case errc::limit_mismatch: return "the semaphore has another number of permits";
            case errc::unknown_primary: return "the Sentinels know no primary of that name";
            case errc::permits_not_set:
                return "the server has no number of permits for the semaphore";
        }
        return "unknown error";
    }
};

}  // namespace

std::string_view to_string(errc value) noexcept {
    switch (value) {
        case errc::invalid_name: return "invalid_name";
        case errc::invalid_lease: return "invalid_lease";
        case errc::invalid_options: return "invalid_options";
        case errc::too_many_waiters: return "too_many_waiters";
        case errc::lease_lost: return "lease_lost";
        case errc::release_unknown: return "release_unknown";
        case errc::not_held: return "not_held";
        case errc::not_replicated: return "not_replicated";
        case errc::quorum_not_reached: return "quorum_not_reached";
        case errc::corrupt_state: return "corrupt_state";
        case errc::auth_failed: return "auth_failed";
        case errc::no_permission: return "no_permission";
        case errc::tls_failed: return "tls_failed";
        case errc::unsupported_server: return "unsupported_server";
        case errc::server_refused: return "server_refused";
        case errc::client_stopped: return "client_stopped";
        case errc::unreachable: return "unreachable";
        case errc::would_deadlock: return "would_deadlock";
        case errc::limit_mismatch: return "limit_mismatch";
        case errc::unknown_primary: return "unknown_primary";
        case errc::permits_not_set: return "permits_not_set";
    }
    return "unknown";
}

boost::system::error_category const& error_category() noexcept {
    static category const instance;
    return instance;
}

bool is_retryable(error_code ec) noexcept {
    return ec == errc::too_many_waiters || ec == errc::unreachable || ec == errc::server_refused ||
           ec == errc::not_replicated || ec == errc::quorum_not_reached ||
           ec == asio::error::try_again;
}

}  // namespace holdfast
