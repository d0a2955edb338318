#include <holdfast/latch.hpp>

#include "client/counting.hpp"
#include "protocol/latch.hpp"

#include <memory>

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

namespace detail {

void start_count_down(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t times,
    change_handler handler
) {
    change_number(
        std::move(client),
        std::move(key),
        times,
        1,
        &latch_protocol_type::count_down,
        std::move(handler)
    );
}

}  // namespace detail
}  // namespace holdfast
