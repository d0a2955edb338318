#ifndef HOLDFAST_TEST_UNIT_ACQUIRE_HANDING_CLIENT_HPP
#define HOLDFAST_TEST_UNIT_ACQUIRE_HANDING_CLIENT_HPP

#include "protocol/hand_over_message.hpp"
#include "unit/acquire/acquiring.hpp"
#include "unit/scripted_client.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::test {

/// A client that hands locks over, on a scripted server.
struct handing_client : scripted_client {
    static constexpr std::uint64_t server_time = 1'700'000'000'000'000;

    explicit handing_client(config settings = {})
        : scripted_client{std::move(settings), true, true} {}

    [[nodiscard]] std::string own_channel() const {
        return detail::channel_of_client(state->client_id());
    }
    void confirm_all() {
        on_strand([this] {
            server->listeners->on_confirmed(own_channel());
            server->listeners->on_confirmed(on->waiters());
            server->listeners->on_confirmed(on->channel());
        });
    }
    void say(std::string const& message) {
        on_strand([this, message] { server->listeners->on_notification(own_channel(), message); });
    }
    /// The holder id in the oldest request.
    [[nodiscard]] std::string id(std::size_t at = 0) const {
        auto const& sent = server->requests.at(at).what;
        bool const releases = sent.what().name == "lock.release";
        return std::string{sent.word(sent.keys() + (releases ? 0 : 1))};
    }
    [[nodiscard]] std::string text(std::size_t at = 0) const {
        return typed(server->requests.at(at).what);
    }
    /// Refused, with a place in the queue.
    static detail::exec_result queued(std::int64_t ahead = 0) {
        return replied(0, 30'000, server_time, server_time, ahead);
    }
    /// The first attempt was refused, the channels were confirmed, and the next attempt has a place
    /// in the queue. @returns its holder id.
    std::string wait_in_queue(std::int64_t ahead = 0) {
        answer(busy());
        confirm_all();
        auto const mine = id();
        answer(queued(ahead));
        return mine;
    }
    /// Another client gives the lock to this holder id.
    void grant_to(std::string const& holder, std::uint64_t token, std::int64_t later_us = 0) {
        say("grant lock " + holder + " " + std::to_string(token) + " " +
            std::to_string(server_time + static_cast<std::uint64_t>(later_us)) + " 3000 a");
    }
};

}  // namespace holdfast::test

#endif
