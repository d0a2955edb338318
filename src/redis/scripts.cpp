#include "redis/scripts.hpp"

namespace holdfast::detail::scripts {

#define HOLDFAST_SCRIPT(name, sha1, text) script const name{#name, text, sha1};
#include "redis/scripts.inc"
#undef HOLDFAST_SCRIPT

}  // namespace holdfast::detail::scripts
