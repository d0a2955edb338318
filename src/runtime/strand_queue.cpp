#include "runtime/strand_queue.hpp"

namespace holdfast::detail {

int strand_queue::list::append_reversed(node* newest, node const* end) noexcept {
    int count = 0;
    node* oldest = nullptr;
    for (auto* one = newest; one && one != end; ++count) {
        auto* const before = std::exchange(one->next, oldest);
        oldest = std::exchange(one, before);
    }
    if (oldest) {
        (last_ ? last_->next : first_) = oldest;
        last_ = newest;
    }
    return count;
}

void strand_queue::list::remove(node* one) noexcept {
    node* before = nullptr;
    for (auto* at = first_; at; before = std::exchange(at, at->next)) {
        if (at == one) {
            (before ? before->next : first_) = at->next;
            if (last_ == at) {
                last_ = before;
            }
            return;
        }
    }
}

// What another thread had added before comes first, as if this had gone the same way.
bool strand_queue::add_to_turn(node* one) noexcept {
    if (!runs_in_this_thread() || added_ >= most_added_in_a_turn) {
        return false;
    }
    collect();
    ready_.push(one);
    ++added_;
    return true;
}

// Releases what this thread did before, and sees what the last turn did.
bool strand_queue::push(node* one) noexcept {
    auto* newest = added_by_others_.load(std::memory_order_relaxed);
    do {
        one->next = newest == &claimed_ ? nullptr : newest;
    } while (!added_by_others_.compare_exchange_weak(
        newest,
        one,
        std::memory_order_acq_rel,
        std::memory_order_relaxed
    ));
    return newest == nullptr;
}

bool strand_queue::claim() noexcept {
    node* none = nullptr;
    return added_by_others_.load(std::memory_order_relaxed) == nullptr &&
           added_by_others_.compare_exchange_strong(
               none,
               &claimed_,
               std::memory_order_acq_rel,
               std::memory_order_relaxed
           );
}

void strand_queue::run_ready() {
    while (!ready_.empty()) {
        ready_.pop()->call();
    }
}

// They came from others, and are not what the turn has made for itself.
void strand_queue::run_what_waits() {
    collect();
    added_ = 0;
    run_ready();
}

void strand_queue::collect() noexcept {
    if (added_by_others_.load(std::memory_order_relaxed) != &claimed_) {
        auto* const newest = added_by_others_.exchange(&claimed_, std::memory_order_acq_rel);
        added_ += ready_.append_reversed(newest, &claimed_);
    }
}

bool strand_queue::refill() noexcept {
    for (;;) {
        collect();
        if (!ready_.empty()) {
            return true;
        }
        node* none = &claimed_;
        if (added_by_others_.compare_exchange_strong(
                none,
                nullptr,
                std::memory_order_acq_rel,
                std::memory_order_relaxed
            )) {
            return false;
        }
    }
}

// The next turn finds them where they are.
void strand_queue::release() noexcept {
    node* none = &claimed_;
    do {
        collect();
        none = &claimed_;
    } while (!added_by_others_.compare_exchange_weak(
        none,
        nullptr,
        std::memory_order_acq_rel,
        std::memory_order_relaxed
    ));
}

void strand_queue::withdraw(node* one) noexcept {
    collect();
    ready_.remove(one);
    release();
    one->destroy();
}

void strand_queue::drop_all() noexcept {
    do {
        while (!ready_.empty()) {
            ready_.pop()->destroy();
        }
        collect();
    } while (!ready_.empty());
}

void strand_queue::abandon() noexcept {
    if (auto* const inside = scheduling::find(*this)) {
        inside->turn_dropped = true;
    } else {
        drop();
    }
}

// The right to run functions is given back, too.
void strand_queue::drop() noexcept {
    drop_all();
    release();
}

}  // namespace holdfast::detail
