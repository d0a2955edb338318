#include "plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <string_view>

namespace holdfast::test {

namespace {

unsigned draw_seed() {
    char const* const given = std::getenv("HOLDFAST_WIRE_SEED");
    auto const seed = given ? static_cast<unsigned>(std::stoul(given))
                            : static_cast<unsigned>(std::random_device{}());
    std::cout << "HOLDFAST_WIRE_SEED=" << seed << std::endl;
    return seed;
}

void shuffle(std::vector<std::size_t>& numbers) {
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937{run_seed()});
}

}  // namespace

bool full_run() {
    char const* const given = std::getenv("HOLDFAST_WIRE");
    return given && std::string_view{given} == "full";
}

std::chrono::seconds run_limit() {
#ifdef HOLDFAST_TEST_SANITIZER
    constexpr std::chrono::seconds usual{250};
#else
    constexpr std::chrono::seconds usual{100};
#endif
    return full_run() ? std::chrono::seconds{580} : usual;
}

bool is_asked_for(std::string_view what) {
    char const* const given = std::getenv("HOLDFAST_WIRE_ONLY");
    return !given || what == given;
}

unsigned run_seed() {
    static unsigned const seed = draw_seed();
    return seed;
}

std::vector<std::size_t> in_any_order(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    shuffle(all);
    return all;
}

std::vector<std::size_t> choose(std::size_t count, std::size_t stride) {
    auto const step = full_run() ? 1 : stride;
    std::vector<std::size_t> chosen;
    for (std::size_t i = run_seed() % step; i < count; i += step) {
        chosen.push_back(i);
    }
    shuffle(chosen);
    return chosen;
}

}  // namespace holdfast::test
