#ifndef HOLDFAST_CLIENT_INSPECT_HPP
#define HOLDFAST_CLIENT_INSPECT_HPP

#include "protocol/target.hpp"

#include <holdfast/lock.hpp>

#include <memory>

namespace holdfast::detail {

class client_state;

// One request and its answer, for operators. From any thread.

void inspect(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    inspect_handler handler
);
void force_release(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    force_handler handler
);

}  // namespace holdfast::detail

#endif
