#include "client/request.hpp"

#include "runtime/runtime.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <exception>

namespace holdfast::detail {

void request_op::start() {
    auto& client = *client_;
    place_ = client.connecting().reserve();
    if (client.stopping()) {
        finish(errc::client_stopped, nullptr);
        return;
    }
    if (!place_) {
        finish(errc::too_many_waiters, nullptr);
        return;
    }
    auto const& settings = client.settings();
    auto const now = lease_clock::now();
    id_ = client.make_holder_id();
    fsm_.emplace(request_fsm::terms{
        .until = what_.repeats ? now + settings.lease : now,
        .changes = what_.repeats,
        .backoff_min = settings.reconnect_min,
        .backoff_max = std::max<nanos>(settings.reconnect_max, backoff::refusals),
    });
    client.connecting().add(
        [self = shared_from_this()](error_code ec) { self->on_connection(ec); },
        what_.on
    );
}

void request_op::on_connection(error_code ec) {
    if (!ec) {
        send();
        return;
    }
    using failure = request_fsm::failure;
    bool const passes = ec != errc::client_stopped && !client_->failure(*what_.on);
    on_failure(passes ? failure::refused : failure::failed, ec);
}

void request_op::send() {
    auto const& settings = client_->settings();
    try {
        client_->exec(
            what_.make(*client_, *id_, request_timeout_for(settings, settings.lease)),
            [self = shared_from_this()](exec_result result) { self->on_answer(result); }
        );
    } catch (std::exception const&) {
        // Out of memory.
        on_failure(request_fsm::failure::failed, asio::error::no_memory);
    }
}

void request_op::on_answer(exec_result const& result) {
    using failure = request_fsm::failure;
    switch (result.status) {
        case exec_status::replied:
            if (what_.repeats && fsm_->sure()) {
                client_->acquires().answered().add(what_.on, *id_);
            }
            finish({}, &result.reply);
            break;
        case exec_status::failed: on_failure(failure::failed, result.error); break;
        case exec_status::refused: on_failure(failure::refused, result.error); break;
        case exec_status::not_sent: {
            // After the end of the client nothing is sent.
            bool const ended = result.error == errc::client_stopped;
            on_failure(ended ? failure::failed : failure::refused, result.error);
            break;
        }
        case exec_status::unknown:
        case exec_status::unconfirmed: on_failure(failure::unknown, result.error); break;
    }
}

void request_op::on_failure(request_fsm::failure what, error_code cause) {
    auto told = fsm_->on_failure(what, cause, lease_clock::now());
    if (!told && client_->stopping()) {
        using failure = request_fsm::failure;
        told = fsm_->on_failure(failure::failed, errc::client_stopped, lease_clock::now());
    }
    if (told) {
        finish(*told, nullptr);
        return;
    }
    try {
        client_->connecting().add_after(
            fsm_->pause(client_->random_part()),
            [self = shared_from_this()](error_code ec) { self->on_connection(ec); },
            what_.on
        );
    } catch (std::exception const&) {
        // Out of memory: it cannot be repeated.
        using failure = request_fsm::failure;
        told = fsm_->on_failure(failure::failed, asio::error::no_memory, lease_clock::now());
        finish(told.value_or(asio::error::no_memory), nullptr);
    }
}

void request_op::finish(error_code ec, script_reply const* reply) {
    place_.reset();
    what_.finish(ec, reply);
}

}  // namespace holdfast::detail
