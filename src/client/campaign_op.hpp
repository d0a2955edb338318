#ifndef HOLDFAST_CLIENT_CAMPAIGN_OP_HPP
#define HOLDFAST_CLIENT_CAMPAIGN_OP_HPP

#include "client/client_state.hpp"
#include "client/mandate.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/detail/election_operations.hpp>
#include <holdfast/leadership.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::detail {

/// The driver of one campaign: acquires the lock, and proclaims the value. Used on the client's
/// strand.
class campaign_op : public std::enable_shared_from_this<campaign_op> {
public:
    /// `holder` is where the lease is renewed.
    campaign_op(
        campaign_request what,
        asio::any_io_executor holder,
        pending_handler<error_code, leadership> handler
    );

    /// In the initiating function: the handler's cancellation slot is filled there.
    void accept_cancellation();
    void start();

private:
    enum class step : std::uint8_t { begins, acquires, proclaims, done };

    void acquire();
    void on_acquired(error_code ec, lease granted);
    void proclaim();
    void on_proclaimed(error_code ec);
    void on_cancel(asio::cancellation_type type);
    void finish(error_code ec, leadership won = {});

    campaign_request what_;
    asio::any_io_executor holder_;
    pending_handler<error_code, leadership> handler_;
    asio::cancellation_signal cancels_acquisition_;
    lease held_;
    std::shared_ptr<mandate> leads_;
    step step_ = step::begins;
    bool cancelled_ = false;
};

}  // namespace holdfast::detail

#endif
