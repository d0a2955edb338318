#include "soak/account.hpp"

#include "soak/settings.hpp"

#include <holdfast/lease_clock.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::soak {

namespace {

std::string to_word(error_code result) {
    auto text = result ? result.message() : std::string{"ok"};
    std::replace(text.begin(), text.end(), ' ', '_');
    return text;
}

std::string_view name_of(loss_reason why) {
    switch (why) {
        case loss_reason::none: return "none";
        case loss_reason::expired: return "expired";
        case loss_reason::taken: return "taken";
        case loss_reason::deleted: return "deleted";
        case loss_reason::unreachable: return "unreachable";
        case loss_reason::max_hold: return "max_hold";
        case loss_reason::max_renewals: return "max_renewals";
        case loss_reason::failed_over: return "failed_over";
        case loss_reason::client_stopped: return "client_stopped";
    }
    return "?";
}

}  // namespace

instant now() {
    return lease_clock::now().time_since_epoch().count();
}

event account::make(happening what) const {
    return {.at = now(), .what = what, .process = process_, .op = op_, .lock = lock_};
}

void account::invoke(
    std::string_view way,
    std::int64_t limit_ns,
    std::int64_t owner,
    std::int64_t permits
) const {
    auto e = make(happening::invoke);
    e.limit = limit_ns;
    e.owner = owner;
    e.permits = permits;
    e.word = way;
    history_->add(e);
}

void account::granted(lease_view const& held) {
    auto e = make(happening::granted);
    e.token = token_ = held.token;
    e.deadline = deadline_ = held.deadline;
    history_->add(e);
}

void account::no_lease(std::string_view why) const {
    auto e = make(happening::no_lease);
    e.word = why;
    history_->add(e);
}

void account::failed(error_code why) const {
    auto e = make(happening::failed);
    e.word = to_word(why);
    history_->add(e);
}

void account::look(lease_view const& held) {
    if (held.deadline != deadline_) {
        auto e = make(happening::moved);
        e.deadline = deadline_ = held.deadline;
        history_->add(e);
    }
    if (held.valid && held.at >= held.deadline - notice_time.count()) {
        auto e = make(happening::looked);
        e.at = held.at;
        e.deadline = held.deadline;
        history_->add(e);
    }
}

void account::renew() const {
    history_->add(make(happening::renew));
}

void account::renewed(error_code result) const {
    auto e = make(happening::renewed);
    e.word = to_word(result);
    history_->add(e);
}

void account::lost(loss_reason why) const {
    auto e = make(happening::lost);
    e.word = name_of(why);
    history_->add(e);
}

void account::find_out(lease_view const& held) {
    if (held.state == lease_state::lost && !std::exchange(knows_, true)) {
        lost(held.loss);
    }
}

void account::releasing(lease_view const& held) const {
    auto e = make(happening::releasing);
    e.deadline = held.deadline;
    history_->add(e);
}

void account::released(error_code result) const {
    auto e = make(happening::released);
    e.word = to_word(result);
    history_->add(e);
}

}  // namespace holdfast::soak
