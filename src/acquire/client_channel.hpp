#ifndef HOLDFAST_ACQUIRE_CLIENT_CHANNEL_HPP
#define HOLDFAST_ACQUIRE_CLIENT_CHANNEL_HPP

#include "protocol/subscription.hpp"

#include <string_view>

namespace holdfast::detail {

class acquisitions;
class wait_queue;

/// The channel on which one client is told that it has a lock, or is the next. A server that finds
/// no listener there takes the client for gone.
///
/// It is open while there are wait queues. On a cluster each queue has one of its own, in the slot
/// of its lock: the server of the lock knows who listens there. Used on the client's strand.
class client_channel final : private subscriber {
public:
    explicit client_channel(acquisitions& all) : all_{all} {}
    client_channel(acquisitions& all, wait_queue& queue) : all_{all}, queue_{&queue} {}

    void open();
    void close() noexcept {
        subscription_ = {};
        confirmed_ = false;
    }
    /// For channels that are only listened to so that the server counts it.
    [[nodiscard]] subscriber& counted() noexcept { return counted_; }
    /// What is published now will arrive.
    [[nodiscard]] bool confirmed() const noexcept { return confirmed_; }

private:
    void on_confirmed(bool again) override;
    void on_unconfirmed() override { confirmed_ = false; }
    void on_refused(error_code cause) override;
    void on_notification(std::string_view message) override;

    struct counted_type final : subscriber {
        explicit counted_type(client_channel& channel) : of{channel} {}
        void on_confirmed(bool) override {}
        void on_unconfirmed() override {}
        void on_refused(error_code cause) override { of.on_refused(cause); }
        void on_notification(std::string_view) override {}

        client_channel& of;
    };

    acquisitions& all_;
    // Null: all of the client's.
    wait_queue* queue_ = nullptr;
    counted_type counted_{*this};
    subscription subscription_;
    bool confirmed_ = false;
};

}  // namespace holdfast::detail

#endif
