#include "ops/context_service.hpp"

#include "ops/client_state.hpp"

#include <utility>

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
    std::unordered_set<client_state*> all;
    {
        std::lock_guard const guard{mutex_};
        all.swap(clients_);
    }
    for (auto* client : all) {
        client->on_context_gone();
    }
}

}  // namespace holdfast::detail
