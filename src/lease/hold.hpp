#ifndef HOLDFAST_LEASE_HOLD_HPP
#define HOLDFAST_LEASE_HOLD_HPP

#include "core/holder_id.hpp"
#include "core/lease_fsm.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/fencing_token.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <functional>
#include <memory>
#include <mutex>

namespace holdfast::detail {

class tenure;

/// What the server knows of a grant: the holder id, and until when it is kept. It is renewed and
/// released as one.
///
/// Readable from any thread; the requests are made on the client's strand.
class hold : public std::enable_shared_from_this<hold>, public boost::intrusive::list_base_hook<> {
public:
    hold(
        std::shared_ptr<client_context> client,
        std::shared_ptr<target const> on,
        holder_id const& id,
        lease_fsm const& fsm,
        time_point granted_at
    );

    // They never change.
    [[nodiscard]] client_context& client() const noexcept { return *client_; }
    [[nodiscard]] std::shared_ptr<client_context> const& share_client() const noexcept {
        return client_;
    }
    [[nodiscard]] std::shared_ptr<target const> const& on() const noexcept { return target_; }
    [[nodiscard]] holder_id const& id() const noexcept { return id_; }
    [[nodiscard]] lease_terms const& terms() const noexcept { return fsm_.terms(); }
    [[nodiscard]] time_point granted_at() const noexcept { return granted_at_; }

    /// Guards the machine, and what the tenure keeps.
    [[nodiscard]] std::mutex& mutex() const noexcept { return mutex_; }
    /// Under the mutex.
    [[nodiscard]] lease_fsm& fsm() const noexcept { return fsm_; }

    /// From any thread: sends a renewal, and tells the tenure what came of it; then `done`, if
    /// there is one, on the strand: success, `lease_lost`, or the cause.
    void renew(std::function<void(error_code)> done);

    /// From any thread: counts the loss, and writes it to the log.
    void report_loss(loss_reason reason);

    // On the client's strand.
    void on_disconnected();
    void on_connected(nanos delay);
    void on_client_stopped();
    /// The client looks after it from now on, and keeps it and its tenure.
    void on_listed(std::shared_ptr<tenure> current) noexcept;
    /// The client keeps it no longer. @returns what it kept.
    [[nodiscard]] std::shared_ptr<tenure> on_forgotten() noexcept;
    /// Nothing on the strand while it is listed.
    [[nodiscard]] std::shared_ptr<tenure> const& current() const noexcept { return tenure_; }

private:
    void send_renewal(std::function<void(error_code)> done);
    [[nodiscard]] error_code on_renewal_answered(exec_result const& result, time_point sent_at);

    std::shared_ptr<client_context> client_;
    std::shared_ptr<target const> target_;
    std::shared_ptr<tenure> tenure_;
    holder_id id_;
    time_point granted_at_;
    mutable std::mutex mutex_;
    mutable lease_fsm fsm_;
};

}  // namespace holdfast::detail

#endif
