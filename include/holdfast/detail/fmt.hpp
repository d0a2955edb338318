#ifndef HOLDFAST_DETAIL_FMT_HPP
#define HOLDFAST_DETAIL_FMT_HPP

// The part of fmt that is cheap to include. Since fmt 11 it has a header of its own; before that it
// was fmt/core.h, which later lost some of its contents.
#if __has_include(<fmt/base.h>)
#include <fmt/base.h>
#else
#include <fmt/core.h>
#endif

namespace holdfast::detail {

/// The text of a format string. Where it has `get`, the conversion is deprecated or will be.
template <class Format>
[[nodiscard]] fmt::string_view text_of(Format const& format) {
    if constexpr (requires { format.get(); }) {
        return format.get();
    } else {
        return format;
    }
}

}  // namespace holdfast::detail

#endif
