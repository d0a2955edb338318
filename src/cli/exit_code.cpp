#include "cli/exit_code.hpp"

#include <boost/asio/error.hpp>

#include <sys/wait.h>

#include <cerrno>

namespace holdfast::cli {

exit_code exit_code_of(error_code ec) noexcept {
    if (!ec) {
        return exit_code::success;
    }
    if (ec.category() != error_category()) {
        return ec == boost::asio::error::operation_aborted ? exit_code::internal
                                                           : exit_code::unreachable;
    }
    switch (static_cast<errc>(ec.value())) {
        case errc::invalid_name:
        case errc::invalid_lease:
        case errc::invalid_options:
        case errc::limit_mismatch:
        case errc::permits_not_set: return exit_code::usage;
        case errc::corrupt_state: return exit_code::not_a_lock;
        case errc::auth_failed:
        case errc::no_permission: return exit_code::refused;
        case errc::tls_failed:
        case errc::unsupported_server: return exit_code::unsuitable;
        case errc::lease_lost: return exit_code::lost;
        case errc::unreachable:
        case errc::server_refused:
        case errc::not_replicated:
        case errc::quorum_not_reached:
        case errc::release_unknown:
        case errc::unknown_primary: return exit_code::unreachable;
        case errc::too_many_waiters:
        case errc::not_held:
        case errc::client_stopped:
        case errc::would_deadlock: break;
    }
    return exit_code::internal;
}

int exit_code_of_child(int wait_status) noexcept {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

exit_code exit_code_of_exec(int error) noexcept {
    switch (error) {
        case ENOENT: return exit_code::not_found;
        case EAGAIN:
        case EMFILE:
        case ENFILE:
        case ENOMEM: return exit_code::system;
        default: return exit_code::not_executable;
    }
}

}  // namespace holdfast::cli
