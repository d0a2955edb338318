#include <holdfast/read_write_lock.hpp>

#include "client/client_state.hpp"
#include "protocol/read_write_lock.hpp"

#include <memory>

namespace holdfast {

read_lock::read_lock(std::shared_ptr<detail::client_state> client, std::string_view name)
    : named_lock<read_lock>{
          client,
          client->checked(detail::make_read_lock_target(client->settings().key_prefix, name), name)
      } {}

write_lock::write_lock(std::shared_ptr<detail::client_state> client, std::string_view name)
    : named_lock<write_lock>{
          client,
          client->checked(detail::make_write_lock_target(client->settings().key_prefix, name), name)
      } {}

}  // namespace holdfast
