#include "protocol/joined_texts.hpp"

#include <algorithm>

namespace holdfast::detail {

joined_texts::joined_texts(std::array<std::string, count> const& texts) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        size += texts[i].size();
        ends_[i] = static_cast<std::uint16_t>(size);
    }
    text_ = std::make_unique<char[]>(size);
    auto* to = text_.get();
    for (auto const& each : texts) {
        to = std::copy(each.begin(), each.end(), to);
    }
}

joined_texts::joined_texts(joined_texts const& other)
    : text_{std::make_unique<char[]>(other.ends_.back())},
      ends_{other.ends_} {
    std::copy_n(other.text_.get(), ends_.back(), text_.get());
}

}  // namespace holdfast::detail
