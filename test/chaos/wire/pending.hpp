#ifndef HOLDFAST_TEST_WIRE_PENDING_HPP
#define HOLDFAST_TEST_WIRE_PENDING_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <memory>

namespace holdfast::test {

/// Something that happens once, for a coroutine that waits for it no longer than a limit.
/// Copies share it. Not thread-safe.
class pending {
public:
    explicit pending(boost::asio::any_io_executor const& executor)
        : state_{std::make_shared<state>(executor)} {}

    void happen() const {
        state_->happened = true;
        state_->wake.cancel();
    }

    bool happened() const { return state_->happened; }

    /// False if it did not happen in time. One coroutine at a time may wait.
    boost::asio::awaitable<bool> wait(std::chrono::milliseconds limit) const {
        auto const kept = state_;
        if (!kept->happened) {
            kept->wake.expires_after(limit);
            co_await kept->wake.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        }
        co_return kept->happened;
    }

private:
    struct state {
        explicit state(boost::asio::any_io_executor const& executor) : wake{executor} {}

        boost::asio::steady_timer wake;
        bool happened = false;
    };

    std::shared_ptr<state> state_;
};

}  // namespace holdfast::test

#endif
