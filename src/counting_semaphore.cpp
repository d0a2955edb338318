#include <holdfast/counting_semaphore.hpp>

#include "client/client_state.hpp"
#include "protocol/counted.hpp"

namespace holdfast {

counting_semaphore::counting_semaphore(
    std::shared_ptr<detail::client_state> client,
    std::string_view name
)
    : counted_handle{
          client,
          client->checked(
              detail::make_counting_semaphore_target(client->settings().key_prefix, name),
              name
          )
      } {}

}  // namespace holdfast
