#ifndef HOLDFAST_ACQUIRE_QUORUM_NODE_HPP
#define HOLDFAST_ACQUIRE_QUORUM_NODE_HPP

#include "acquire/acquire_op.hpp"
#include "acquire/ballot.hpp"
#include "core/lease_terms.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace holdfast::detail {

/// One server of a quorum, and its client. Used on the strand of the client that leads; what is
/// asked of the server is asked on that of the node's client.
struct quorum_node {
    std::shared_ptr<client_context> client;
    acquisitions* all = nullptr;
    std::shared_ptr<target const> on;
    lease_terms terms;

    /// Its server is connected, and has been running for so long that nothing it may have forgotten
    /// is held any more.
    [[nodiscard]] bool counts(time_point now) const noexcept { return counts_from() <= now; }
    /// From when on it does; `max` if its server is not connected.
    [[nodiscard]] time_point counts_from() const noexcept;
    /// Why it does not count.
    [[nodiscard]] error_code why_not() const noexcept;

    struct question {
        lease_terms const& terms;
        std::optional<owner> const& who;
        guarded_executor const& holder;
        std::shared_ptr<ballot> vote;
    };
    /// Makes one attempt, which is answered on the strand of `lead`.
    [[nodiscard]] std::weak_ptr<acquire_op> ask(
        question what,
        client_context& lead,
        std::function<void(error_code, lease)> answer
    ) const;
    /// What it was asked is not wanted any more.
    void cancel(std::weak_ptr<acquire_op> const& asked, asio::cancellation_type type) const;
    /// What it was asked has come to nothing: the whole was not granted, and it is no part of it.
    void tell_of_refusal(error_code why, nanos waited) const;
    /// Writes a token back to it while this lease lasts. `done` is told on the strand of `lead`.
    void raise(
        lease const& held,
        fencing_token token,
        std::shared_ptr<client_context> const& lead,
        std::function<void(bool)> done
    ) const;
};

}  // namespace holdfast::detail

#endif
