#include <holdfast/fair_lock.hpp>

#include "client/client_state.hpp"
#include "protocol/fair_lock.hpp"
#include "protocol/one_slot.hpp"

#include <memory>

namespace holdfast {

fair_lock::fair_lock(std::shared_ptr<detail::client_state> client, std::string_view name)
    : named_lock<fair_lock>{
          client,
          std::make_shared<detail::target const>(detail::allowed_by(
              client->settings(),
              detail::make_fair_lock_target(client->settings().key_prefix, name)
          ))
      } {}

}  // namespace holdfast
