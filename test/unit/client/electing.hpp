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
#include <vector>

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
    static detail::exec_result proclaimed() { return replied(1, 1, 1); }
    static detail::exec_result not_leader() { return replied(0, 1); }
    /// What a look finds: the newest leader, and those after the one that was known. Each is `v`
    /// and its number, and has ten times that as its term.
    static detail::exec_result leaders(
        std::uint64_t newest,
        bool leading,
        std::vector<std::uint64_t> const& found = {},
        std::int64_t remaining = 30'000
    ) {
        std::string elements;
        std::string lengths;
        for (auto const one : found) {
            auto const number = std::to_string(one);
            auto const element = number + " " + number + "0 1 h v" + number;
            elements += element;
            lengths += " " + std::to_string(element.size());
        }
        auto const counted = std::to_string(found.size()) + lengths + " " + elements;
        auto const change = newest > 0 ? 1 : 0;
        auto const led = leading ? 1 : 0;
        return replied(remaining, led, newest, newest * 10, change, 0, counted);
    }
    /// Nobody has the lock.
    static detail::exec_result nobody(std::uint64_t newest = 0) {
        return leaders(newest, false, {}, -2);
    }

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
