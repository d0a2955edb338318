#include "acquire/joint_attempt.hpp"

#include "protocol/multi_lock.hpp"
#include "runtime/client_context.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

bool all_granted(script_reply const& reply) {
    return reply_to(reply, 0).integer(0) == 1;
}

}  // namespace

void joint_attempt::add(
    primitive::attempt const& asked,
    std::shared_ptr<bool const> withdrawn,
    exec_handler&& handler
) {
    asked_.push_back(asked);
    handlers_.push_back(std::move(handler));
    // They are withdrawn together.
    withdrawn_ = std::move(withdrawn);
}

void joint_attempt::send(client_context& client, std::size_t count) {
    if (asked_.size() != count) {
        // One has ended before it was sent, and its acquisition knows why.
        client.on_strand([self = shared_from_this()] {
            self->on_answer({exec_status::refused, errc::too_many_waiters, {}});
        });
        return;
    }
    auto request = acquire_together(asked_);
    if (asked_.front().hand_over) {
        request.may_be_forbidden();
    }
    request.unless(std::move(withdrawn_));
    auto on_end = [self = shared_from_this()](exec_result result) { self->on_answer(result); };
    if (!client.confirms()) {
        client.exec(std::move(request), std::move(on_end));
        return;
    }
    auto again = request;
    client.exec_granting(std::move(request), std::move(again), all_granted, std::move(on_end));
}

void joint_attempt::on_answer(exec_result const& result) {
    auto handlers = std::exchange(handlers_, {});
    std::size_t number = 0;
    for (auto& each : handlers) {
        auto const which = number++;
        exec_result own{result.status, result.error, {}};
        if (result.status == exec_status::replied) {
            own.reply = reply_to(result.reply, which);
        }
        std::move(each)(std::move(own));
    }
}

}  // namespace holdfast::detail
