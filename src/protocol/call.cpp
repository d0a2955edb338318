#include "protocol/call.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace holdfast::detail {

namespace {

// No counter has reached it.
constexpr std::string_view no_floor = "9007199254740991";

}  // namespace

void call::for_another_server() {
    if (floor_ && word(*floor_) != no_floor) {
        bulk_strings words;
        for (std::size_t i = 0; i < size(); ++i) {
            words.add(i == *floor_ ? no_floor : word(i));
        }
        words_ = std::move(words);
    }
}

}  // namespace holdfast::detail
