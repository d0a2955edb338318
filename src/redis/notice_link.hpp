#ifndef HOLDFAST_REDIS_NOTICE_LINK_HPP
#define HOLDFAST_REDIS_NOTICE_LINK_HPP

#include "redis/supervisor.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// The connection that receives notices, and nothing else: a refused SUBSCRIBE answers in a way
/// that would be taken for the answer to some command.
///
/// SUBSCRIBE and UNSUBSCRIBE of one channel may overtake each other's confirmations in the caller's
/// eyes: each carries a generation, and the server's answers come in the order of what was sent.
class notice_link final : public supervisor {
public:
    struct events {
        std::function<void()> up;
        std::function<void()> down;
        std::function<void(error_code)> failure;
        std::function<void(std::string_view channel, bool again)> subscribed;
        std::function<void(std::string_view channel, error_code)> refused;
        std::function<void(std::string_view channel)> notice;
    };

    notice_link(
        asio::any_io_executor strand,
        std::shared_ptr<config const> settings,
        std::shared_ptr<counters> count,
        events to
    );

    void subscribe(std::string channel);
    void unsubscribe(std::string_view channel);

private:
    struct subscription {
        std::uint64_t generation = 0;
        bool was_confirmed = false;
    };
    struct sent {
        bool subscribe;
        std::string channel;
        std::uint64_t generation;
    };

    void on_up() override;
    void on_down() override;
    void on_failure(error_code cause) override;
    void on_unsolicited(raw_reply& message) override;

    void send(bool subscribe, std::string const& channel, std::uint64_t generation);
    void on_confirmed(bool subscribe, std::string const& channel);
    void on_refused(std::string const& text);

    events to_;
    std::map<std::string, subscription, std::less<>> wanted_;
    std::deque<sent> unanswered_;
    std::uint64_t generation_ = 0;
};

}  // namespace holdfast::detail

#endif
