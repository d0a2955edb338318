#include "protocol/scripts.hpp"

namespace holdfast::detail::scripts {

#define HOLDFAST_SCRIPT(symbol, name, sha1, text, ...) \
    script const symbol{name, text, sha1, __VA_ARGS__};
#include "protocol/scripts.inc"
#undef HOLDFAST_SCRIPT

}  // namespace holdfast::detail::scripts
