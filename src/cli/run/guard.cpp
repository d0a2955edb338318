#include "cli/run/guard.hpp"

#include "cli/run/guarding.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace holdfast::cli {

guard::guard(
    run_options const& options,
    std::string const& name,
    inherited_signals const& signals
) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw std::system_error{errno, std::generic_category(), "socketpair"};
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto const pid = ::fork();
    if (pid == 0) {
        // Of this program only this end may be left, or its end is not seen.
        ::close(ends[0]);
        guarding{options, name, signals, ends[1]}.run();
    }
    auto const error = errno;
    ::close(ends[1]);
    if (pid < 0) {
        ::close(ends[0]);
        throw std::system_error{error, std::generic_category(), "fork"};
    }
    descriptor_ = ends[0];
}

guard::~guard() {
    ::close(descriptor_);
}

void guard::start(fencing_token token, bool takes_terminal) const noexcept {
    auto const value = static_cast<std::int64_t>(token.value);
    order({guard_order::kind::start, takes_terminal ? 1 : 0, value});
}

// A guard that was stopped reads nothing, and there is no end of renewals: those that do not fit in
// are dropped. The guard then knows an earlier deadline.
void guard::renewed(lease_clock::time_point deadline) const noexcept {
    auto const value = deadline.time_since_epoch().count();
    order({guard_order::kind::renewed, 0, value}, MSG_DONTWAIT);
}

// So little fits in always. A guard that is not there any more is seen at the other end.
void guard::order(guard_order const& what, int flags) const noexcept {
    static_cast<void>(::send(descriptor_, &what, sizeof what, MSG_NOSIGNAL | flags) == 0);
}

}  // namespace holdfast::cli
