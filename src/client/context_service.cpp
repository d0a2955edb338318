#include "client/context_service.hpp"

#include "client/client_state.hpp"

namespace holdfast::detail {

void context_service::add(client_state& client) {
    std::lock_guard const guard{mutex_};
    clients_.insert(&client);
}

void context_service::remove(client_state& client) noexcept {
    std::lock_guard const guard{mutex_};
    clients_.erase(&client);
}

void context_service::shutdown() noexcept {
    // One at a time: the end of one may be the end of another.
    for (;;) {
        client_state* client = nullptr;
        {
            std::lock_guard const guard{mutex_};
            if (clients_.empty()) {
                return;
            }
            client = *clients_.begin();
            clients_.erase(clients_.begin());
        }
        client->on_context_gone();
    }
}

}  // namespace holdfast::detail
