#include "acquire/quorum_node.hpp"

#include "lease/lease_group.hpp"
#include "lease/tenure.hpp"
#include "protocol/quorum_lock.hpp"

#include <utility>

namespace holdfast::detail {

time_point quorum_node::counts_from() const noexcept {
    auto const& settings = client->settings();
    auto const& status = client->node();
    // mutant: quorum-forgets-what-a-restart-forgot
    auto const delay = settings.restart_delay.value_or(settings.lease);
    return status.up() ? saturating_add(status.began_by(), delay) : time_point::max();
}

error_code quorum_node::why_not() const noexcept {
    auto const& status = client->node();
    return status.up() ? make_error_code(errc::quorum_not_reached) : status.why_down();
}

std::weak_ptr<acquire_op> quorum_node::ask(
    question what,
    client_context& lead,
    std::function<void(error_code, lease)> answer
) const {
    auto op = std::make_shared<acquire_op>(
        *all,
        client,
        acquire_op::request{
            .on = on,
            .terms = what.terms,
            .how_long = patience::one_attempt,
            .who = what.who,
            .vote = std::move(what.vote),
            .part = true,
            .provisional = true,
        },
        what.holder,
        pending_handler<error_code, lease>{std::move(answer), lead.strand()}
    );
    client->enter_strand([op] { op->start(); });
    return op;
}

void quorum_node::cancel(std::weak_ptr<acquire_op> const& asked, asio::cancellation_type type)
    const {
    if (auto const op = asked.lock()) {
        client->on_strand([op, type] { op->on_cancel(type); });
    }
}

void quorum_node::tell_of_refusal(error_code why, nanos waited) const {
    observer::acquisition const what{client->next_acquisition(), on->lock, false};
    client->tell_observer([&](observer& told) {
        told.on_acquire(what);
        told.on_no_grant(what, why, waited);
    });
}

void quorum_node::raise(
    lease const& held,
    fencing_token token,
    std::shared_ptr<client_context> const& lead,
    std::function<void(bool)> done
) const {
    auto const id = lease_access::share_of(held)->of.over().id();
    auto request = raise_token({
        .on = *on,
        .id = id,
        .token = token,
        .counter_ttl = client->settings().fence_ttl,
        .timeout = terms.request_timeout,
    });
    auto send = [at = client, lead, request = std::move(request), done = std::move(done)](
                ) mutable {
        at->exec(std::move(request), [lead, done = std::move(done)](exec_result result) mutable {
            bool const raised =
                result.status == exec_status::replied && read_raise_token(result.reply);
            lead->on_strand([done = std::move(done), raised] { done(raised); });
        });
    };
    client->enter_strand(std::move(send));
}

}  // namespace holdfast::detail
