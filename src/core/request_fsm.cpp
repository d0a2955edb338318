#include "core/request_fsm.hpp"

namespace holdfast::detail {

std::optional<error_code> request_fsm::on_failure(
    failure what,
    error_code cause,
    time_point now
) noexcept {
    unsure_ = unsure_ || what == failure::unknown;
    if (what != failure::failed && now < terms_.until) {
        return std::nullopt;
    }
    if (unsure_ && terms_.changes) {
        return errc::release_unknown;
    }
    return cause ? cause : make_error_code(errc::unreachable);
}

}  // namespace holdfast::detail
