#include <holdfast/election.hpp>

#include "client/campaign_op.hpp"
#include "client/request.hpp"
#include "lease/lease_handles.hpp"
#include "protocol/election.hpp"

#include <memory>
#include <utility>

namespace holdfast {

election::election(std::shared_ptr<detail::client_state> client, std::string_view name)
    : client_{std::move(client)},
      keys_{std::make_shared<detail::election_keys const>(
          detail::make_election_keys(client_->settings(), name)
      )} {
    if (!keys_->lock->valid()) {
        client_->report_name(name);
    }
}

namespace detail {

asio::any_io_executor executor_of(campaign_request const& request) noexcept {
    return request.client->executor();
}

std::string const& name_of(election_keys const& keys) noexcept {
    return keys.lock->lock;
}

void start_acquire(
    campaign_request request,
    asio::any_io_executor holder,
    campaign_handler handler
) {
    auto const client = request.client;
    if (client->gone()) {
        return;
    }
    pending_handler<error_code, leadership> waiting{std::move(handler), client->executor()};
    if (request.value.size() > election_keys::longest_value || request.options.owner) {
        waiting.complete(errc::invalid_options, leadership{});
        return;
    }
    auto const op =
        std::make_shared<campaign_op>(std::move(request), std::move(holder), std::move(waiting));
    op->accept_cancellation();
    client->on_strand([op] { op->start(); });
}

void start_ask_for_leader(
    std::shared_ptr<client_state> client,
    std::shared_ptr<election_keys const> keys,
    leader_handler handler
) {
    auto on = keys->lock;
    send_request(
        std::move(client),
        std::move(on),
        std::move(handler),
        false,
        {},
        [keys](client_state&, target const&, holder_id const&, nanos timeout) {
            return look(*keys, timeout);
        },
        [](script_reply const& reply, leader_info& found, client_state&, target const&)
            -> error_code {
            auto read = read_look(reply);
            if (!read) {
                return errc::corrupt_state;
            }
            found = std::move(read->leader);
            return {};
        }
    );
}

}  // namespace detail
}  // namespace holdfast
