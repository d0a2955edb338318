#ifndef HOLDFAST_REDIS_SUBSCRIPTION_CONNECTION_HPP
#define HOLDFAST_REDIS_SUBSCRIPTION_CONNECTION_HPP

#include "protocol/channels.hpp"
#include "redis/supervisor.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// The connection that receives notifications, and nothing else: a refused SUBSCRIBE answers in a
/// way that would be taken for the reply to a command.
///
/// SUBSCRIBE and UNSUBSCRIBE of one channel may overtake each other's confirmations in the caller's
/// eyes: each carries a generation, and the server answers in the order of what was sent.
class subscription_connection final : public supervisor {
public:
    subscription_connection(server_context of, events to);

    [[nodiscard]] subscription subscribe(std::string channel, subscriber& to);
    void stop() override;
    /// Nobody listens.
    [[nodiscard]] bool idle() const noexcept { return wanted_.empty(); }

private:
    struct sent {
        bool subscribe;
        std::string channel;
        std::uint64_t generation;
        lease_clock::time_point sent_at;
    };

    void on_up() override;
    void on_down() override;
    void on_unsolicited(raw_reply& message) override;
    [[nodiscard]] bool is_notification(raw_reply const& message) const noexcept;
    void on_notification(raw_reply const& message);
    void on_answer(raw_reply const& message);

    void on_wanted(std::string const& channel);
    void on_unwanted(std::string const& channel);
    void arm_timeout();
    void on_timeout();
    void send(bool subscribe, std::string const& channel, std::uint64_t generation);
    [[nodiscard]] bool sharded() const noexcept { return dialect() == script_dialect::sharded; }
    void on_confirmation(bool subscribe, std::string_view channel);
    /// The server does not serve the channel any more.
    void on_withdrawn(std::string_view channel);
    [[nodiscard]] bool on_moved(std::string const& text);
    void on_refusal(std::string const& text);

    std::shared_ptr<channels> channels_;
    // Instead of a generation: the slot of the channel has moved, and nothing is to be
    // unsubscribed.
    static constexpr std::uint64_t not_served = 0;

    // The generation of the last SUBSCRIBE of each channel that is wanted.
    std::map<std::string, std::uint64_t, std::less<>> wanted_;
    std::deque<sent> unanswered_;
    std::uint64_t generation_ = 0;
    // That have been read, and not dealt with yet.
    std::size_t waiting_answers_ = 0;
    timer timeout_;
    bool armed_ = false;
};

}  // namespace holdfast::detail

#endif
