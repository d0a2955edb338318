#include <holdfast/leader_observer.hpp>

#include "client/observation.hpp"
#include "lease/lease_handles.hpp"

#include <holdfast/election.hpp>

#include <memory>
#include <utility>

namespace holdfast {

leader_observer election::observe() const {
    return leader_observer{std::make_shared<detail::observation>(client_, keys_)};
}

leader_observer& leader_observer::operator=(leader_observer&& other) noexcept {
    if (this != &other) {
        leader_observer const old{std::exchange(observes_, std::move(other.observes_))};
    }
    return *this;
}

leader_observer::~leader_observer() {
    if (observes_) {
        detail::abandon(std::move(observes_));
    }
}

namespace detail {

asio::any_io_executor executor_of(observation const* observes) noexcept {
    return observes ? observes->client()->executor() : executor_without_client();
}

void start_next(std::shared_ptr<observation> observes, leader_handler handler) {
    if (observes) {
        observes->next(std::move(handler));
    } else {
        refuse_empty(std::move(handler), leader_info{});
    }
}

void abandon(std::shared_ptr<observation> observes) noexcept {
    observes->abandon();
}

}  // namespace detail
}  // namespace holdfast
