#ifndef HOLDFAST_CLIENT_COUNTING_HPP
#define HOLDFAST_CLIENT_COUNTING_HPP

#include "client/client_state.hpp"
#include "protocol/counted.hpp"

#include <holdfast/detail/counted_operations.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::detail {

/// Sends what `make` makes of a request with this number, until it is answered. Refused if the
/// number is less than `least`, or too great. From any thread.
void change_number(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    std::int64_t number,
    std::int64_t least,
    call (*make)(counted::request const& what),
    change_handler handler
);

}  // namespace holdfast::detail

#endif
