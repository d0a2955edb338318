#include "redis/connection_log.hpp"

#include <holdfast/lease_clock.hpp>

#include <utility>

namespace holdfast::detail {

connection_log::connection_log(log_sink to) : to_{std::move(to)} {}

// What is left out needs no timer: an attempt follows within `config::reconnect_max`.
void connection_log::write(
    log_level level,
    std::string_view cause,
    std::string_view place,
    std::string_view text
) {
    if (!to_) {
        return;
    }
    if (level != log_level::error && level != log_level::warning) {
        to_(level, text);
    } else if (auto const line = written_.admit(level, cause, place, text, lease_clock::now())) {
        to_(level, *line);
    }
}

void connection_log::reset() noexcept {
    written_.reset(lease_clock::now());
}

}  // namespace holdfast::detail
