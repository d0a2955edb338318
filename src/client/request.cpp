#include "client/request.hpp"

#include "runtime/runtime.hpp"

#include <algorithm>

namespace holdfast::detail {

namespace {

// The server refuses a withdrawal until an operator fixes the cause.
constexpr nanos pause_after_failure = millis{5'000};

}  // namespace

bool request_op::over() const {
    return what_.withdraws ? client_->stopped() : client_->stopping();
}

void request_op::start() {
    auto& client = *client_;
    if (over()) {
        finish(errc::client_stopped, nullptr);
        return;
    }
    if (!what_.withdraws && !(place_ = client.connecting().reserve())) {
        finish(errc::too_many_waiters, nullptr);
        return;
    }
    auto const& settings = client.settings();
    auto const now = lease_clock::now();
    id_ = client.make_holder_id();
    fsm_.emplace(request_fsm::terms{
        .until = what_.withdraws ? now + max_lease
                 : what_.repeats ? now + settings.lease
                                 : now,
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
    bool const passes = ec == errc::client_stopped ? what_.withdraws : !client_->failure(*what_.on);
    on_failure(passes ? failure::refused : failure::failed, ec);
}

void request_op::send() {
    auto const& settings = client_->settings();
    client_->exec(
        what_.make(*client_, *id_, request_timeout_for(settings, settings.lease)),
        [self = shared_from_this()](exec_result result) { self->on_answer(result); }
    );
}

void request_op::on_answer(exec_result const& result) {
    using failure = request_fsm::failure;
    switch (result.status) {
        case exec_status::replied:
            if (what_.repeats && fsm_->sure()) {
                client_->numbers().forget(what_.on, *id_);
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
    using failure = request_fsm::failure;
    auto pause = fsm_->pause(client_->random_part());
    if (what_.withdraws && what == failure::failed) {
        what = failure::refused;
        pause = std::max(pause, pause_after_failure);
    }
    auto told = fsm_->on_failure(what, cause, lease_clock::now());
    if (!told && over()) {
        told = fsm_->on_failure(failure::failed, errc::client_stopped, lease_clock::now());
    }
    if (told) {
        finish(*told, nullptr);
        return;
    }
    client_->connecting().add_after(
        pause,
        [self = shared_from_this()](error_code ec) { self->on_connection(ec); },
        what_.on
    );
}

void request_op::finish(error_code ec, script_reply const* reply) {
    place_.reset();
    what_.finish(ec, reply);
}

}  // namespace holdfast::detail
