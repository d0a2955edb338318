#include <holdfast/latch.hpp>

#include "client/client_state.hpp"
#include "protocol/counted.hpp"

namespace holdfast {

latch::latch(std::shared_ptr<detail::client_state> client, std::string_view name)
    : counted_handle{
          client,
          client->checked(
              detail::make_latch_target(
                  client->settings().key_prefix,
                  name,
                  !client->settings().cluster_nodes.empty()
              ),
              name
          )
      } {}

}  // namespace holdfast
