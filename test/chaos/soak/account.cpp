#include "soak/account.hpp"

#include "soak/settings.hpp"

#include <holdfast/lease_clock.hpp>

#include <algorithm>
#include <string>

namespace holdfast::soak {

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

void account::note(happening what, std::string_view word) const {
    auto e = make(what);
    e.word = word;
    history_->add(e);
}

void account::note(happening what, error_code result) const {
    auto text = result ? result.message() : std::string{"ok"};
    std::replace(text.begin(), text.end(), ' ', '_');
    note(what, text);
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

}  // namespace holdfast::soak
