#include "runtime/virtual_time.hpp"

#include <mutex>
#include <set>

namespace holdfast::detail {

namespace {

struct notes {
    std::mutex mutex;
    std::set<virtual_time::time_point> due;
    int stopping = 0;
};

// Never destroyed: a timer may be set while the program's static objects are destroyed.
notes& all() {
    static auto* const made = new notes;
    return *made;
}

}  // namespace

std::atomic<std::int64_t> virtual_time::stopped_at{virtual_time::running};
std::atomic<std::int64_t> virtual_time::ahead{0};
std::atomic<int> virtual_time::watches{0};

virtual_time::watch::watch(bool stop_clock) : stops_clock_{stop_clock} {
    std::lock_guard const guard{all().mutex};
    if (stops_clock_ && all().stopping++ == 0) {
        stopped_at = now().count();
    }
    ++watches;
}

virtual_time::watch::~watch() {
    std::lock_guard const guard{all().mutex};
    if (--watches == 0) {
        all().due.clear();
    }
    if (!stops_clock_ || --all().stopping > 0) {
        return;
    }
    // Time goes on from where it stood.
    ahead = stopped_at - system_time().count();
    stopped_at = running;
}

void virtual_time::note(time_point due) {
    std::lock_guard const guard{all().mutex};
    all().due.insert(due);
}

std::optional<virtual_time::time_point> virtual_time::take_next(time_point last) {
    std::lock_guard const guard{all().mutex};
    auto& due = all().due;
    due.erase(due.begin(), due.upper_bound(time_point{now()}));
    if (due.empty() || *due.begin() > last) {
        return std::nullopt;
    }
    auto const next = *due.begin();
    due.erase(due.begin());
    return next;
}

void virtual_time::move_to(time_point at) {
    std::lock_guard const guard{all().mutex};
    auto const by = at.time_since_epoch() - now();
    if (by <= duration{0}) {
        return;
    }
    if (all().stopping > 0) {
        stopped_at = at.time_since_epoch().count();
    } else {
        ahead += by.count();
    }
}

}  // namespace holdfast::detail
