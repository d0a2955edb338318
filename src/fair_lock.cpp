#include <holdfast/fair_lock.hpp>

#include "client/client_state.hpp"
#include "protocol/fair_lock.hpp"

#include <memory>

namespace holdfast {

fair_lock::fair_lock(std::shared_ptr<detail::client_state> client, std::string_view name)
    : named_lock<fair_lock>{
          client,
          client->checked(detail::make_fair_lock_target(client->settings().key_prefix, name), name)
      } {}

}  // namespace holdfast
