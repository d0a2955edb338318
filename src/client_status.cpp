#include <holdfast/client_status.hpp>

namespace holdfast {

std::string_view to_string(connection_state state) noexcept {
    switch (state) {
        case connection_state::connecting: return "connecting";
        case connection_state::connected: return "connected";
        case connection_state::stopped: return "stopped";
    }
    return "unknown";
}

}  // namespace holdfast
