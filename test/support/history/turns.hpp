#ifndef HOLDFAST_TEST_HISTORY_TURNS_HPP
#define HOLDFAST_TEST_HISTORY_TURNS_HPP

#include "support/history/event.hpp"
#include "support/history/rules.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::history {

/// One turn at a lock: it is waited for, held, and released.
struct turn {
    std::int64_t process = 0;
    std::int64_t lock = 0;
    instant asked = 0;
    instant granted = 0;
    instant released = 0;
    std::int64_t token = 0;    // 0: the holder does not know it
    std::int64_t permits = 0;  // of a semaphore
    /// What the holder read under the lock, where each writes one more than it read; -1: nothing.
    std::int64_t number = -1;
};

/// Notes a turn of this process, which ends with its scope.
class noted_turn {
public:
    noted_turn(
        std::vector<turn>& to,
        std::int64_t lock,
        std::int64_t token,
        std::int64_t permits = 0
    )
        : to_{to},
          one_{.lock = lock, .asked = clock(), .token = token, .permits = permits} {
        one_.granted = one_.asked;
    }
    noted_turn(noted_turn const&) = delete;
    noted_turn& operator=(noted_turn const&) = delete;
    ~noted_turn() {
        one_.released = clock();
        to_.push_back(one_);
    }

private:
    static instant clock() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

    std::vector<turn>& to_;
    turn one_;
};

/// For tests in which nothing goes wrong: a sentence for each rule that these turns break. No turns
/// at all break one, too.
std::vector<std::string> broken_by(std::vector<turn> turns, rules const& by = {});

}  // namespace holdfast::history

#endif
