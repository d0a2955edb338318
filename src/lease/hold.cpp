#include "lease/hold.hpp"

#include "lease/loss_message.hpp"
#include "lease/tenure.hpp"
#include "protocol/primitive.hpp"

#include <boost/asio/error.hpp>

#include <exception>
#include <utility>

namespace holdfast::detail {

hold::hold(
    std::shared_ptr<client_context> client,
    std::shared_ptr<target const> on,
    holder_id const& id,
    lease_fsm const& fsm,
    time_point granted_at
)
    : client_{std::move(client)},
      target_{std::move(on)},
      id_{id},
      granted_at_{granted_at},
      fsm_{fsm} {}

void hold::renew(std::function<void(error_code)> done) {
    client_->on_strand([self = shared_from_this(), done = std::move(done)]() mutable {
        self->send_renewal(std::move(done));
    });
}

void hold::report_loss(loss_reason reason) {
    client_->count().lost(reason);
    client_->on_strand([self = shared_from_this(), reason] {
        self->client_->log(log_level::warning, loss_message(*self->target_, reason));
    });
}

void hold::send_renewal(std::function<void(error_code)> done) {
    // It may have been released or lost since.
    if (!tenure_ || !tenure_->alive()) {
        if (done) {
            done(errc::lease_lost);
        }
        return;
    }
    auto const sent_at = lease_clock::now();
    try {
        client_->exec(
            target_->speaks->renew(*target_, id_, terms().lease, terms().request_timeout),
            [self = shared_from_this(), sent_at, done](exec_result result) {
                auto const ec = self->on_renewal_answered(result, sent_at);
                if (done) {
                    done(ec);
                }
            }
        );
    } catch (std::exception const&) {
        // Out of memory: it is tried again.
        tenure_->on_renewal_failed();
        if (done) {
            done(asio::error::no_memory);
        }
    }
}

error_code hold::on_renewal_answered(exec_result const& result, time_point sent_at) {
    auto const current = tenure_;
    if (!current) {
        return errc::lease_lost;
    }
    bool const replied = result.status == exec_status::replied;
    // A value of another kind under the key: our lock was overwritten.
    bool const overwritten =
        result.status == exec_status::failed && result.error == errc::corrupt_state;
    if (replied || overwritten) {
        auto const lost =
            replied ? target_->speaks->read_renew(result.reply).lost : loss_reason::deleted;
        if (lost == loss_reason::none) {
            client_->count().renewals.add();
            current->on_renewed(sent_at);
            return {};
        }
        current->on_not_ours(lost);
        return errc::lease_lost;
    }
    client_->count().failed_renewals.add();
    current->on_renewal_failed();
    return result.error ? result.error : make_error_code(errc::unreachable);
}

void hold::on_disconnected() {
    tenure_->on_disconnected();
}

void hold::on_connected(nanos delay) {
    tenure_->on_connected(delay);
}

void hold::on_client_stopped() {
    tenure_->on_client_stopped();
}

void hold::on_listed(std::shared_ptr<tenure> current) noexcept {
    tenure_ = std::move(current);
}

std::shared_ptr<tenure> hold::on_forgotten() noexcept {
    return std::move(tenure_);
}

}  // namespace holdfast::detail
