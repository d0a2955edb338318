#ifndef HOLDFAST_REDIS_SCRIPTS_HPP
#define HOLDFAST_REDIS_SCRIPTS_HPP

#include "ops/redis_port.hpp"

namespace holdfast::detail::scripts {

// One per file of scripts/.
#define HOLDFAST_SCRIPT(name, sha1, text) extern script const name;
#include "redis/scripts.inc"
#undef HOLDFAST_SCRIPT

}  // namespace holdfast::detail::scripts

#endif
