#ifndef HOLDFAST_CLIENT_COUNTING_HPP
#define HOLDFAST_CLIENT_COUNTING_HPP

#include "acquire/acquisitions.hpp"
#include "client/look_loop.hpp"
#include "core/holder_id.hpp"
#include "protocol/counted.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::detail {

class client_state;
class number_queue;
class number_wait;

/// What a client does about latches and counting semaphores beside the requests of its users: the
/// operations that wait, the withdrawals of attempts that were left behind, and the marks that the
/// server may forget. Used on the client's strand; it is a part of the client.
class counting {
public:
    explicit counting(client_state& client) : client_{client} {}

    /// Adds an operation to those that wait for the same; one that tries once waits alone.
    void enter(std::shared_ptr<number_wait> op);
    /// Nothing waits in this queue any more.
    void close(number_queue& queue);
    /// This client has opened a latch or given permits back. `notified`: the message went out.
    void on_freed(target const& on, bool notified);
    /// Gives back what an attempt with this id takes, or has taken.
    void withdraw(std::shared_ptr<target const> on, holder_id const& id);
    /// The only request with this id was answered: its mark is removed, soon and with others.
    void forget(std::shared_ptr<target const> on, holder_id const& id);
    void forget_now();
    /// The queues, which are told when attempts can be made.
    [[nodiscard]] look_loops& loops() noexcept { return loops_; }
    void add_out_of_reach(acquisitions::stranded& to) const;
    void clear() noexcept;

    [[nodiscard]] bool withdraws() const noexcept { return withdrawals_ > 0; }
    /// Nothing is under way in the background, and nothing is left to be forgotten.
    [[nodiscard]] bool idle() const noexcept {
        return !withdraws() && forgetting_ == 0 && answered_.empty();
    }
    /// Called when it becomes idle.
    void set_on_idle(std::function<void()> f) { on_idle_ = std::move(f); }

private:
    void on_withdrawn(target const& on, script_reply const* reply);
    void send_forget(std::span<counted::answered const> marks);
    void tell_idle();

    client_state& client_;
    look_loops loops_;
    // Those that several operations share. A key is the name in its queue's target.
    std::unordered_map<target_key, std::shared_ptr<number_queue>, target_key_hash> queues_;
    std::size_t tries_ = 0;
    std::size_t withdrawals_ = 0;
    std::vector<counted::answered> answered_;
    std::size_t forgetting_ = 0;
    std::optional<timer> forget_timer_;
    std::function<void()> on_idle_;
};

}  // namespace holdfast::detail

#endif
