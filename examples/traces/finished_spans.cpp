#include "finished_spans.hpp"

#include <utility>

namespace traces {

void finished_spans::add(span ended) noexcept {
    ended.until = std::chrono::system_clock::now();
    std::lock_guard const guard{mutex_};
    if (spans_.size() >= most_) {
        ++dropped_;
        return;
    }
    try {
        spans_.push_back(std::move(ended));
    } catch (...) {
        ++dropped_;
    }
}

std::vector<span> finished_spans::take() {
    std::lock_guard const guard{mutex_};
    return std::exchange(spans_, {});
}

std::size_t finished_spans::dropped() const {
    std::lock_guard const guard{mutex_};
    return dropped_;
}

}  // namespace traces
