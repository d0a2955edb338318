#include "simulation/observer_judge.hpp"

#include "simulation/process.hpp"

#include <fmt/format.h>

namespace holdfast::sim {

void observer_judge::complain(std::string_view what, std::string_view of) {
    if (!killed_) {
        in_.violation(fmt::format("p{}'s observer is told that {}: {}", process_, what, of));
    }
}

void observer_judge::on_acquire(acquisition const& what) noexcept {
    own_business const own;
    if (!begun_.emplace(what.number, false).second || what.number <= last_) {
        complain("an acquisition begins again", what.lock);
    }
    last_ = what.number;
}

void observer_judge::on_wait(acquisition const& what) noexcept {
    own_business const own;
    auto const one = begun_.find(what.number);
    if (one == begun_.end() || std::exchange(one->second, true)) {
        complain("an acquisition waits that does so already, or is over", what.lock);
    }
}

void observer_judge::end(acquisition const& what, std::chrono::nanoseconds waited) {
    if (begun_.erase(what.number) == 0) {
        complain("an acquisition ends that has not begun", what.lock);
    }
    if (waited < 0ns) {
        complain("an acquisition took less than no time", what.lock);
    }
}

void observer_judge::on_grant(acquisition const& what, grant const& of) noexcept {
    own_business const own;
    auto const has_waited = begun_[what.number];
    if (has_waited == (of.kind == grant_kind::uncontended) && of.kind != grant_kind::own_client &&
        of.kind != grant_kind::joined) {
        complain("a grant came in a way that it did not", what.lock);
    }
    end(what, of.waited);
    if (of.kind != grant_kind::joined) {
        ++held_[key_of(what.lock, of.token)].granted;
    }
}

void observer_judge::on_no_grant(
    acquisition const& what,
    error_code,
    std::chrono::nanoseconds waited
) noexcept {
    own_business const own;
    end(what, waited);
}

observer_judge::held observer_judge::key_of(std::string_view lock, fencing_token token) const {
    return {std::string{lock}, raises_ ? 1 : token.value};
}

observer_judge::times& observer_judge::of(held_lock const& what) {
    auto const [known, unheard_of] = held_.try_emplace(key_of(what.lock, what.token));
    if (unheard_of) {
        complain("something happened to a lock that was not granted", what.lock);
    }
    return known->second;
}

void observer_judge::on_renewal(held_lock const& what, std::chrono::nanoseconds took) noexcept {
    own_business const own;
    if (what.token.value != 0) {
        of(what);
    }
    if (took < 0ns) {
        complain("a renewal took less than no time", what.lock);
    }
}

void observer_judge::on_doubt(held_lock const& what) noexcept {
    own_business const own;
    of(what);
}

void observer_judge::on_loss(held_lock const& what, loss_reason why) noexcept {
    own_business const own;
    auto& known = of(what);
    if (++known.lost > known.granted || why == loss_reason::none) {
        complain("a lease is lost that was lost before, or for no reason", what.lock);
    }
}

void observer_judge::on_release(held_lock const& what, std::chrono::nanoseconds held_for) noexcept {
    own_business const own;
    auto& known = of(what);
    if (++known.released > known.granted) {
        complain("a lock is released more often than it was granted", what.lock);
    }
    if (held_for < 0ns) {
        complain("a lock was held for less than no time", what.lock);
    }
}

void observer_judge::on_connected(connection const& which) noexcept {
    own_business const own;
    if (!connected_.emplace(which.server, which.what).second) {
        complain("a connection is made that is there", fmt::to_string(which.server));
    }
}

void observer_judge::on_disconnected(connection const& which) noexcept {
    own_business const own;
    if (connected_.erase({which.server, which.what}) == 0) {
        complain("a connection breaks that was not there", fmt::to_string(which.server));
    }
}

void observer_judge::check_ended() {
    if (!begun_.empty()) {
        complain("acquisitions have begun, and not that they ended", fmt::to_string(begun_.size()));
    }
    for (auto const& [which, known] : held_) {
        // What has no token may have no lease, and then is not released.
        if (which.second != 0 && known.released != known.granted) {
            complain("a lock is held when the client is gone", which.first);
        }
    }
}

}  // namespace holdfast::sim
