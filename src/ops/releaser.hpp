#ifndef HOLDFAST_OPS_RELEASER_HPP
#define HOLDFAST_OPS_RELEASER_HPP

#include "core/holder_id.hpp"
#include "core/key_names.hpp"
#include "core/lease_terms.hpp"
#include "ops/pending_handler.hpp"
#include "ops/redis_port.hpp"
#include "ops/runtime.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::detail {

class client_state;

/// A lock to be freed: for a release that somebody waits for, for a lease that was dropped, for an
/// attempt that was left behind.
struct release_task {
    std::shared_ptr<key_names const> key;
    holder_id id;
    /// After this the server has freed the lock by itself.
    time_point until;
    nanos timeout;
    /// The lease was lost before: the release does not succeed, whatever the server says.
    bool was_lost = false;
    /// Nobody knows whether the lock was ever ours: "not ours" is as good as freed.
    bool withdrawal = false;
    std::shared_ptr<pending_handler<error_code>> handler;
};

/// Sends releases, again and again until one is answered or the lease has ended by itself: the
/// caller's cancellation does not reach it. Runs on the client's strand; it is a part of the
/// client.
class releaser {
public:
    explicit releaser(client_state& client);

    void add(release_task task);
    /// There is a connection again.
    void on_connected();
    /// Nothing more will be answered. True if something had been left.
    bool stop();
    [[nodiscard]] bool idle() const noexcept { return pending_.empty(); }

private:
    struct entry {
        entry(release_task what, time_point now) : task{std::move(what)}, started{now} {}

        release_task task;
        time_point started;
        time_point retry_at = time_point::max();
        bool in_flight = false;
        // It was sent and not answered: "not ours" may be the work of our own request.
        bool unsure = false;
        bool done = false;
        std::list<std::shared_ptr<entry>>::iterator position;
    };

    void send(std::shared_ptr<entry> const& e);
    void on_answer(std::shared_ptr<entry> const& e, exec_result const& result);
    void retry(entry& e, nanos after);
    void finish(entry& e, error_code result);
    void arm(time_point at);
    void on_timer();

    client_state& client_;
    std::list<std::shared_ptr<entry>> pending_;
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
};

}  // namespace holdfast::detail

#endif
