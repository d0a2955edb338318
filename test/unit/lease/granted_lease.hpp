#ifndef HOLDFAST_TEST_UNIT_LEASE_GRANTED_LEASE_HPP
#define HOLDFAST_TEST_UNIT_LEASE_GRANTED_LEASE_HPP

#include "unit/scripted_client.hpp"

#include <holdfast/lease.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <optional>

namespace holdfast::test {

/// How a grant begins. By default nothing has to be done about it for a long time.
struct grant_options {
    std::chrono::nanoseconds sent_ago{0};
    std::chrono::nanoseconds renew_after = std::chrono::hours{1};
    std::chrono::nanoseconds max_hold{0};
    std::chrono::nanoseconds request_timeout = std::chrono::seconds{3};
    std::optional<owner> who = {};
    std::optional<asio::any_io_executor> holder = {};
    std::shared_ptr<detail::target const> on = {};
    bool renew = true;
};

/// Its renewal is due at once.
inline grant_options const due{.sent_ago = std::chrono::hours{2}};

/// A lease of 24 h that the client was granted. A real clock goes on meanwhile.
inline lease grant(scripted_client& client, grant_options const& how = {}) {
    detail::lease_terms const terms{
        .lease = std::chrono::hours{24},
        .drift = std::chrono::minutes{1},
        .loss_margin = std::chrono::hours{1},
        .renew_after = how.renew_after,
        .request_timeout = how.request_timeout,
        .max_hold = how.max_hold,
        .renew = how.renew,
    };
    auto const id = client.state->make_holder_id();
    lease made;
    client.on_strand([&] {
        auto const now = lease_clock::now();
        auto const sent_at = now - how.sent_ago;
        detail::guarded_executor const holder{how.holder.value_or(client.context.get_executor())};
        made = client.held().add(
            {.on = how.on ? how.on : client.on,
             .id = id,
             .token = {7},
             .fsm = {{sent_at, sent_at + terms.lease - terms.drift}, {}, now},
             .times = detail::lease_fsm::grant::by_request(terms, sent_at, now)},
            {terms, how.who, holder}
        );
    });
    return made;
}

/// A further lease of the same owner.
inline lease enter_again(
    scripted_client& client,
    std::optional<owner> const& who,
    asio::any_io_executor const& holder
) {
    lease made;
    client.on_strand([&] {
        made = client.held()
                   .of_owner(*client.on, who)
                   ->make_further_lease(detail::guarded_executor{holder});
    });
    return made;
}

/// Answers a renewal: another holder has the lock.
inline void take_away(scripted_client& client) {
    client.answer(replied(0, 1));
}

/// What a handler was told.
struct outcome {
    std::optional<error_code> error;
    loss_reason reason = loss_reason::none;

    auto plain() {
        return [this](error_code ec) { error = ec; };
    }
    auto loss() {
        return [this](error_code ec, loss_reason why) {
            error = ec;
            reason = why;
        };
    }
};

}  // namespace holdfast::test

#endif
