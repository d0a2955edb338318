#include <holdfast/observer.hpp>

namespace holdfast {

std::string_view to_string(grant_kind kind) noexcept {
    switch (kind) {
        case grant_kind::uncontended: return "uncontended";
        case grant_kind::own_client: return "own_client";
        case grant_kind::other_client: return "other_client";
        case grant_kind::notification: return "notification";
        case grant_kind::expiry: return "expiry";
        case grant_kind::joined: return "joined";
    }
    return "unknown";
}

observer::~observer() = default;

void observer::on_client(stats_source const&) noexcept {}
void observer::on_acquire(acquisition const&) noexcept {}
void observer::on_wait(acquisition const&) noexcept {}
void observer::on_grant(acquisition const&, grant const&) noexcept {}
void observer::on_no_grant(acquisition const&, error_code, std::chrono::nanoseconds) noexcept {}
void observer::on_renewal(held_lock const&, std::chrono::nanoseconds) noexcept {}
void observer::on_doubt(held_lock const&) noexcept {}
void observer::on_loss(held_lock const&, loss_reason) noexcept {}
void observer::on_release(held_lock const&, std::chrono::nanoseconds) noexcept {}
void observer::on_connected(connection const&) noexcept {}
void observer::on_disconnected(connection const&) noexcept {}

}  // namespace holdfast
