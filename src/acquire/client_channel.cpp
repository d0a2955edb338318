#include "acquire/client_channel.hpp"

#include "acquire/acquisitions.hpp"
#include "acquire/wait_queue.hpp"
#include "protocol/hand_over_message.hpp"
#include "runtime/client_context.hpp"

#include <utility>

namespace holdfast::detail {

void client_channel::open() {
    auto& client = all_.client();
    if (!subscription_ && client.hands_over()) {
        auto channel = queue_ ? channel_of_client(client.client_id(), *queue_->on())
                              : channel_of_client(client.client_id());
        subscription_ = client.subscribe(std::move(channel), *this);
    }
}

void client_channel::on_confirmed(bool) {
    confirmed_ = true;
    if (queue_) {
        queue_->on_hand_over_changed();
    } else {
        all_.on_hand_over_changed();
    }
}

void client_channel::on_refused(error_code cause) {
    confirmed_ = false;
    if (cause == errc::no_permission) {
        all_.on_hand_over_denied();
    } else {
        // It says nothing of the user's rights: the next waiter asks again.
        subscription_ = {};
    }
}

void client_channel::on_notification(std::string_view message) {
    if (auto const read = read_hand_over_message(message)) {
        all_.on_message(*read);
    }
}

}  // namespace holdfast::detail
