#ifndef HOLDFAST_CLIENT_MANDATE_HPP
#define HOLDFAST_CLIENT_MANDATE_HPP

#include "core/holder_id.hpp"
#include "protocol/election.hpp"

#include <holdfast/detail/election_operations.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::detail {

/// What a leader proclaims: its values, one after the other, for as long as it has the lock. Used
/// on the client's strand, except where it says otherwise.
class mandate : public std::enable_shared_from_this<mandate> {
public:
    mandate(
        std::shared_ptr<client_state> client,
        std::shared_ptr<election_keys const> keys,
        holder_id const& holder,
        fencing_token term
    )
        : client_{std::move(client)},
          keys_{std::move(keys)},
          holder_{holder},
          term_{term} {}

    // They never change.
    [[nodiscard]] election_keys const& keys() const noexcept { return *keys_; }
    [[nodiscard]] std::shared_ptr<client_state> const& client() const noexcept { return client_; }

    /// Proclaims a new value. The request is repeated until it is answered. `done` is told whether
    /// that was done: `lease_lost` if it does not lead.
    void proclaim(std::string value, std::function<void(error_code)> done);
    /// Sees to it that the server knows the newest value, and keeps it.
    void proclaim_again();

private:
    void send(std::function<void(error_code)> done);

    std::shared_ptr<client_state> client_;
    std::shared_ptr<election_keys const> keys_;
    holder_id holder_;
    fencing_token term_;
    // Requests under way have it, too.
    std::shared_ptr<std::string const> value_;
    std::uint64_t change_ = 0;
};

}  // namespace holdfast::detail

#endif
