#include <holdfast/counting_semaphore.hpp>

#include "client/counting.hpp"
#include "protocol/counting_semaphore.hpp"

#include <limits>
#include <memory>
#include <utility>

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

namespace detail {

void start_add_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t permits,
    change_handler handler
) {
    change_number(
        std::move(client),
        std::move(key),
        permits,
        -counted::greatest,
        &counting_semaphore_protocol_type::add,
        std::move(handler)
    );
}

void start_release_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t permits,
    change_handler handler
) {
    change_number(
        std::move(client),
        std::move(key),
        permits,
        1,
        &counting_semaphore_protocol_type::add,
        std::move(handler)
    );
}

// None at all is not valid.
std::shared_ptr<target const> with_permits(
    std::shared_ptr<target const> key,
    std::int64_t permits
) {
    if (permits == key->permits) {
        return key;
    }
    // Redisson's numbers are Java's.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    auto made = std::make_shared<target>(*key);
    made->permits = permits < 1 || permits > most ? 0 : static_cast<std::uint32_t>(permits);
    return made;
}

}  // namespace detail
}  // namespace holdfast
