#include "protocol/call.hpp"

namespace holdfast::detail {

namespace {

// No counter has reached it.
constexpr std::string_view no_floor = "9007199254740991";

}  // namespace

void call::for_another_server() {
    if (floor_) {
        replace(*floor_, no_floor);
    }
}

void call::replace(std::size_t i, std::string_view with) {
    auto const former = word(i);
    auto const begin = static_cast<std::size_t>(former.data() - words_.data());
    auto const grows = static_cast<std::uint32_t>(with.size() - former.size());
    words_.replace(begin, former.size(), with);
    for (; i < ends_.size(); ++i) {
        ends_[i] += grows;  // modulo 2^32: it may shrink
    }
}

}  // namespace holdfast::detail
