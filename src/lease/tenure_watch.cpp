// Waiting for the loss of a lease.

#include "lease/tenure.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace holdfast::detail {

std::uint64_t tenure::wait_lost(std::shared_ptr<lease_share> const& asking, loss_handler handler) {
    if (hold_->client().gone()) {
        return 0;
    }
    shares_.start_keep_alive(asking);
    pending_handler<error_code, loss_reason> waiting{std::move(handler), told_on(*asking)};
    std::unique_lock guard{mutex_};
    auto const now = asking->released ? lease_state::empty : look();
    if (!is_alive(now)) {
        bool const lost = now == lease_state::lost;
        auto const reason = lost ? fsm_.loss() : loss_reason::none;
        guard.unlock();
        waiting.complete(lost ? error_code{} : errc::not_held, reason);
        return 0;
    }
    auto const number = watchers_.next_number();
    waiting.on_cancel([self = weak_from_this(), number](asio::cancellation_type type) {
        if (auto const held = self.lock(); held && type != asio::cancellation_type::none) {
            held->cancel_watch(number);
        }
    });
    watchers_.add({asking.get(), number, std::move(waiting)});
    return number;
}

void tenure::cancel_watch(std::uint64_t number) {
    loss_watchers::list cancelled;
    {
        std::lock_guard const guard{mutex_};
        cancelled = watchers_.take(number);
    }
    loss_watchers::tell(cancelled, asio::error::operation_aborted, loss_reason::none);
}

}  // namespace holdfast::detail
