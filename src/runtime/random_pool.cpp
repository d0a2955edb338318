#include "runtime/random_pool.hpp"

#include "runtime/runtime.hpp"

#include <pthread.h>

#include <atomic>

namespace holdfast::detail {

namespace {

// Counts the forks between this process and the one that the program began as.
std::atomic<std::uint64_t> forks{0};

std::uint64_t count_of_forks() {
    static int const registered =
        ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    static_cast<void>(registered);
    return forks.load(std::memory_order_relaxed);
}

}  // namespace

std::uint64_t random_pool::next() {
    auto const now = count_of_forks();
    if (used_ == words_.size() || now != forks_) {
        fill_from_system(words_);
        used_ = 0;
        forks_ = now;
    }
    return words_[used_++];
}

}  // namespace holdfast::detail
