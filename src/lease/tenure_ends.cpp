#include "lease/tenure_ends.hpp"

#include "lease/tenure.hpp"

namespace holdfast::detail {

void tenure_ends::watch(std::shared_ptr<tenure> const& which) {
    auto const place = ends_.emplace(which->deadline(), which);
    if (place == ends_.begin()) {
        arm();
    }
}

void tenure_ends::arm() {
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    sleep_until(*timer_, ends_.begin()->first);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            on_timer();
        }
    });
}

void tenure_ends::on_timer() {
    auto const now = lease_clock::now();
    while (!ends_.empty() && ends_.begin()->first <= now) {
        auto const first = ends_.extract(ends_.begin());
        auto const ended = first.mapped().lock();
        if (!ended) {
            continue;
        }
        if (ended->alive() || ended->deadline() > now) {
            ends_.emplace(ended->deadline(), ended);  // it was renewed
        } else {
            on_over_(*ended);
        }
    }
    if (!ends_.empty()) {
        arm();
    }
}

void tenure_ends::clear() noexcept {
    timer_.reset();
    ends_.clear();
}

}  // namespace holdfast::detail
