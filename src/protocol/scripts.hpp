#ifndef HOLDFAST_PROTOCOL_SCRIPTS_HPP
#define HOLDFAST_PROTOCOL_SCRIPTS_HPP

#include "protocol/script.hpp"

namespace holdfast::detail::scripts {

// One per file of scripts/: `lock_acquire` is scripts/lock/acquire.lua. What is different on a
// cluster follows as its other forms.
#define HOLDFAST_SCRIPT(symbol, name, sha1, text, ...) extern script const symbol;
#include "protocol/scripts.inc"
#undef HOLDFAST_SCRIPT

}  // namespace holdfast::detail::scripts

#endif
