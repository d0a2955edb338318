#include "lease/tenure_timer.hpp"

#include "lease/tenure.hpp"

namespace holdfast::detail {

void tenure_timer::set(tenure& one, time_point at) {
    remove(one);
    timed_tenure& listed = one;
    listed.due_at_ = at;
    // Usually it is the last one: leases are of one length.
    listed_.insert(listed_.end(), listed);
    arm();
}

void tenure_timer::remove(tenure& one) noexcept {
    if (timed_tenure& listed = one; listed.is_linked()) {
        listed_.erase(listed_.iterator_to(listed));
    }
}

// The timer is not set to a later time when the first tenure is removed. Waking once for nothing
// costs less than setting the timer for each grant.
void tenure_timer::arm() {
    if (listed_.empty() || listed_.begin()->due_at_ >= armed_for_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    auto const at = listed_.begin()->due_at_;
    sleep_until(*timer_, at);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            on_timer();
        }
    });
    armed_for_ = at;
}

void tenure_timer::on_timer() {
    armed_for_ = time_point::max();
    auto const now = lease_clock::now();
    while (!listed_.empty() && listed_.begin()->due_at_ <= now) {
        auto const due = static_cast<tenure&>(*listed_.begin()).shared_from_this();
        remove(*due);
        on_due_(*due);
    }
    arm();
}

void tenure_timer::clear() noexcept {
    timer_.reset();
    armed_for_ = time_point::max();
    listed_.clear();
}

}  // namespace holdfast::detail
