#ifndef HOLDFAST_TEST_SOAK_DRAWS_HPP
#define HOLDFAST_TEST_SOAK_DRAWS_HPP

// What the faults draw.

#include "soak/cell_options.hpp"

#include <random>
#include <thread>

namespace holdfast::soak {

inline int draw(std::mt19937_64& random, int from, int to) {
    return std::uniform_int_distribution{from, to}(random);
}

inline bool one_in(std::mt19937_64& random, int n) {
    return draw(random, 1, n) == 1;
}

inline void sleep_ms(int count) {
    std::this_thread::sleep_for(millis{count});
}

}  // namespace holdfast::soak

#endif
