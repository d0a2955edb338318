#ifndef HOLDFAST_PROTOCOL_NAMES_HPP
#define HOLDFAST_PROTOCOL_NAMES_HPP

#include "protocol/derived_keys.hpp"
#include "protocol/target.hpp"

#include <holdfast/config.hpp>

#include <string>
#include <string_view>

namespace holdfast::detail {

/// The part that all derived keys of the lock `full` have in common: `{a}` of `a`, `a{b}` of
/// `a{b}`. Redisson's rule: any `{` counts, closed or not.
[[nodiscard]] std::string tag_of(std::string_view full);

/// Why `settings.key_prefix + name` is no name of a lock for a client with these settings, and what
/// to write instead. Empty: it is one. No two names share a key or a channel, and none is the key
/// of something else.
[[nodiscard]] std::string fault_of_name(config const& settings, std::string_view name);

/// The target for a client with these settings: not valid if its name is none. See `fault_of_name`.
[[nodiscard]] target allowed_by(config const& settings, target made);

}  // namespace holdfast::detail

#endif
