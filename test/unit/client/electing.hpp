#ifndef HOLDFAST_TEST_UNIT_CLIENT_ELECTING_HPP
#define HOLDFAST_TEST_UNIT_CLIENT_ELECTING_HPP

#include "client/observation.hpp"
#include "protocol/election.hpp"
#include "unit/scripted_client.hpp"

#include <holdfast/leader_info.hpp>
#include <holdfast/leadership.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::test {

/// A client on a scripted server, and the election "a".
struct electing : scripted_client {
    static config quick() {
        config made;
        made.reconnect_min = std::chrono::milliseconds{1};
        made.reconnect_max = std::chrono::milliseconds{1};
        return made;
    }
    explicit electing(config settings = quick(), bool connected = true)
        : scripted_client{std::move(settings), connected} {}

    /// A server that answers that this was proclaimed.
    static detail::exec_result proclaimed() { return replied(1, 1); }
    static detail::exec_result not_leader() { return replied(0, 1); }
    /// What a look finds: this leader is `v` and the number, and has ten times the number as its
    /// term.
    static detail::exec_result leads(std::uint64_t number, std::int64_t remaining = 30'000) {
        return replied(remaining, number * 10, 1, "h", "v" + std::to_string(number));
    }
    /// Nobody has the lock.
    static detail::exec_result nobody() { return replied(-2); }

    std::string word(std::size_t i) const {
        return std::string{server->requests.at(0).what.word(i)};
    }

    std::shared_ptr<detail::election_keys const> keys =
        std::make_shared<detail::election_keys const>(detail::make_election_keys({}, "a"));
};

/// One campaign, and what came of it.
struct campaigning {
    explicit campaigning(electing& in, std::string value = "me") {
        auto handler = [this](error_code ec, leadership given) {
            error = ec;
            won = std::move(given);
        };
        detail::start_acquire(
            detail::campaign_request{in.state, in.keys, {}, std::move(value)},
            in.context.get_executor(),
            asio::bind_cancellation_slot(signal.slot(), std::move(handler))
        );
        inside = error.has_value();
        in.run();
    }

    std::optional<error_code> error;
    leadership won;
    asio::cancellation_signal signal;
    bool inside = false;
};

}  // namespace holdfast::test

#endif
