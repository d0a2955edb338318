#include "client/campaign_op.hpp"

#include "acquire/acquire_op.hpp"
#include "acquire/end_acquire.hpp"
#include "lease/lease_group.hpp"
#include "lease/tenure.hpp"

#include <holdfast/detail/acquire.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>

#include <utility>

namespace holdfast::detail {

struct campaign_access {
    [[nodiscard]] static leadership make(lease held, std::shared_ptr<mandate> leads) noexcept {
        return {std::move(held), std::move(leads)};
    }
};

campaign_op::campaign_op(
    campaign_request what,
    asio::any_io_executor holder,
    pending_handler<error_code, leadership> handler
)
    : what_{std::move(what)},
      holder_{std::move(holder)},
      handler_{std::move(handler)} {}

void campaign_op::accept_cancellation() {
    auto const cancel = [](campaign_op& self, asio::cancellation_type type) {
        self.on_cancel(type);
    };
    on_cancel_in_strand<error_code, leadership>(handler_, weak_from_this(), what_.client, cancel);
}

void campaign_op::start() {
    if (step_ == step::begins) {
        acquire();
    }
}

// What its handler is called on is the strand. So is what cancels it.
void campaign_op::acquire() {
    step_ = step::acquires;
    start_acquire(
        acquire_request{what_.client, what_.keys->lock, what_.options},
        holder_,
        asio::bind_cancellation_slot(
            cancels_acquisition_.slot(),
            asio::bind_executor(
                what_.client->strand(),
                [self = shared_from_this()](error_code ec, lease granted) {
                    self->on_acquired(ec, std::move(granted));
                }
            )
        )
    );
}

void campaign_op::on_acquired(error_code ec, lease granted) {
    if (ec) {
        finish(ec);
        return;
    }
    held_ = std::move(granted);
    proclaim();
}

void campaign_op::proclaim() {
    step_ = step::proclaims;
    auto const& client = what_.client;
    auto const id = lease_access::share_of(held_)->of.over().id();
    leads_ = std::make_shared<mandate>(client, what_.keys, id, held_.token());
    client->electing().add(leads_);
    leads_->proclaim(what_.value, [self = shared_from_this()](error_code ec) {
        self->on_proclaimed(ec);
    });
}

void campaign_op::on_proclaimed(error_code ec) {
    if (step_ != step::proclaims) {
        return;
    }
    // It has lost the lock since it was granted, or could not proclaim for longer than a lease
    // lasts. It gives back what it may still have.
    bool const lost = ec ? ec == errc::lease_lost || ec == errc::release_unknown ||
                               ec == errc::unreachable || ec == errc::server_refused
                         : !held_.valid();
    if (lost && cancelled_) {
        finish(asio::error::operation_aborted);
        return;
    }
    if (lost) {
        leads_.reset();
        held_ = {};
        acquire();
        return;
    }
    if (ec) {
        finish(ec);
        return;
    }
    finish({}, campaign_access::make(std::move(held_), std::move(leads_)));
}

// What is in flight says how it ends. If it is that the lock was lost, that is the end.
void campaign_op::on_cancel(asio::cancellation_type type) {
    cancelled_ = true;
    switch (step_) {
        case step::begins: finish(asio::error::operation_aborted); break;
        case step::acquires: cancels_acquisition_.emit(type); break;
        case step::proclaims:
            if (request_of(type) == cancel_request::at_once) {
                finish(asio::error::operation_aborted);
            }
            break;
        case step::done: break;
    }
}

// What it holds is given back in the background.
void campaign_op::finish(error_code ec, leadership won) {
    step_ = step::done;
    leads_.reset();
    held_ = {};
    end_acquire(handler_, patience::unlimited, ec, std::move(won));
}

}  // namespace holdfast::detail
