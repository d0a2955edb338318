#include <holdfast/lease_state.hpp>

namespace holdfast {

std::string_view to_string(lease_state state) noexcept {
    switch (state) {
        case lease_state::empty: return "empty";
        case lease_state::held: return "held";
        case lease_state::in_doubt: return "in_doubt";
        case lease_state::lost: return "lost";
    }
    return "unknown";
}

std::string_view to_string(loss_reason reason) noexcept {
    switch (reason) {
        case loss_reason::none: return "none";
        case loss_reason::expired: return "expired";
        case loss_reason::taken: return "taken";
        case loss_reason::deleted: return "deleted";
        case loss_reason::unreachable: return "unreachable";
        case loss_reason::max_hold: return "max_hold";
        case loss_reason::client_stopped: return "client_stopped";
        case loss_reason::max_renewals: return "max_renewals";
        case loss_reason::failed_over: return "failed_over";
    }
    return "unknown";
}

}  // namespace holdfast
