#ifndef HOLDFAST_DETAIL_ELECTION_OPERATIONS_HPP
#define HOLDFAST_DETAIL_ELECTION_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/leader_info.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace holdfast::detail {

using plain_handler = completion_handler<error_code>;
using campaign_handler = completion_handler<error_code, leadership>;
using leader_handler = completion_handler<error_code, leader_info>;

/// Who wants to lead what.
struct campaign_request {
    std::shared_ptr<client_state> client;
    std::shared_ptr<election_keys const> keys;
    acquire_options options;
    std::string value;
};

[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(campaign_request const& request
) noexcept;
/// `holder` is where the leader's lease will be renewed.
HOLDFAST_EXPORT void start_acquire(
    campaign_request request,
    asio::any_io_executor holder,
    campaign_handler handler
);
[[nodiscard]] HOLDFAST_EXPORT std::string const& name_of(election_keys const& keys) noexcept;
HOLDFAST_EXPORT void start_ask_for_leader(
    std::shared_ptr<client_state> client,
    std::shared_ptr<election_keys const> keys,
    leader_handler handler
);

/// Of a leader; null: of none.
HOLDFAST_EXPORT void start_proclaim(
    std::shared_ptr<mandate> leads,
    std::string value,
    plain_handler handler
);

// Of an observer. It is null after a move.
[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(observation const* observes
) noexcept;
HOLDFAST_EXPORT void start_next(std::shared_ptr<observation> observes, leader_handler handler);
HOLDFAST_EXPORT void abandon(std::shared_ptr<observation> observes) noexcept;

}  // namespace holdfast::detail

#endif
