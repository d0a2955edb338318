#ifndef HOLDFAST_FORMAT_HPP
#define HOLDFAST_FORMAT_HPP

// Formatters for fmt: names of enumerators, and fencing tokens as numbers. What formats includes
// fmt/format.h itself.

#include <holdfast/detail/fmt.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/lease_state.hpp>
#include <holdfast/observer.hpp>

#include <string_view>

namespace holdfast::detail {

struct name_formatter : fmt::formatter<fmt::string_view> {
    template <class Named, class Context>
    auto format(Named value, Context& context) const {
        std::string_view const name = to_string(value);
        return formatter<fmt::string_view>::format({name.data(), name.size()}, context);
    }
};

}  // namespace holdfast::detail

template <>
struct fmt::formatter<holdfast::lease_state> : holdfast::detail::name_formatter {};

template <>
struct fmt::formatter<holdfast::loss_reason> : holdfast::detail::name_formatter {};

template <>
struct fmt::formatter<holdfast::grant_kind> : holdfast::detail::name_formatter {};

template <>
struct fmt::formatter<holdfast::errc> : holdfast::detail::name_formatter {};

template <>
struct fmt::formatter<holdfast::fencing_token> : fmt::formatter<unsigned long long> {
    template <class Context>
    auto format(holdfast::fencing_token token, Context& context) const {
        return formatter<unsigned long long>::format(token.value, context);
    }
};

#endif
