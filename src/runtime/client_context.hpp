#ifndef HOLDFAST_RUNTIME_CLIENT_CONTEXT_HPP
#define HOLDFAST_RUNTIME_CLIENT_CONTEXT_HPP

#include "core/holder_id.hpp"
#include "core/repetition.hpp"
#include "protocol/backend.hpp"
#include "runtime/counters.hpp"
#include "runtime/guarded_executor.hpp"
#include "runtime/node_status.hpp"
#include "runtime/pending_handler.hpp"
#include "runtime/runtime.hpp"
#include "runtime/server_knowledge.hpp"
#include "runtime/strand.hpp"

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// What the operations of a client stand on: its executor and strand, settings, counters, log,
/// randomness, and the way to the server. Whoever shares it keeps the whole client alive.
class client_context : public std::enable_shared_from_this<client_context> {
public:
    client_context(client_context const&) = delete;
    client_context& operator=(client_context const&) = delete;
    virtual ~client_context() = default;

    // From any thread.
    [[nodiscard]] asio::any_io_executor const& executor() const noexcept { return executor_; }
    [[nodiscard]] config const& settings() const noexcept { return *settings_; }
    /// What the holder ids of this client begin with.
    [[nodiscard]] std::string const& client_id() const noexcept { return client_id_; }
    [[nodiscard]] holder_id holder_id_of(std::uint64_t number) const noexcept {
        return holder_id::of_number(client_id_, number);
    }
    [[nodiscard]] counters& count() noexcept { return *count_; }
    [[nodiscard]] counters const& count() const noexcept { return *count_; }
    [[nodiscard]] node_status const& node() const noexcept { return node_; }
    /// The executor's context was destroyed: nothing can run any more.
    [[nodiscard]] bool gone() const noexcept { return gone_.load(std::memory_order_acquire); }
    /// The handle is gone, or the client was shut down: no lease of it is valid.
    [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
    /// This process was forked while the client was there. The copy of the client would repeat the
    /// holder ids of the parent, so it sends nothing.
    [[nodiscard]] bool in_forked_child() const noexcept;
    /// With the gate of its context, which is not being destroyed.
    [[nodiscard]] guarded_executor guard(asio::any_io_executor executor) const;
    /// Runs `f` on the strand, unless there is none any more; never inside this call.
    template <class F>
    void on_strand(F f) {
        if (!gone()) {
            later_.execute(std::move(f));
        }
    }
    /// Runs `f` on the strand, now if this thread may enter it. Not for what calls the user back.
    template <class F>
    void enter_strand(F f) {
        if (gone()) {
            return;
        }
        // Code that runs on the strand already is in the middle of something.
        if (typed_strand_.running_in_this_thread()) {
            later_.execute(std::move(f));
        } else {
            typed_strand_.execute(std::move(f));
        }
    }

    /// Of this text; nothing if it is not one of this client's.
    [[nodiscard]] std::optional<holder_id> holder_id_in(std::string_view text) const noexcept;

    // On the strand.
    [[nodiscard]] asio::any_io_executor const& strand() const noexcept { return strand_; }
    /// Runs a script; `not_sent` with `client_stopped` after the end of the client, and in a forked
    /// child.
    void exec(call&& what, exec_handler&& handler);
    /// Grants and renewals count only when replicas have confirmed them.
    [[nodiscard]] bool confirms() const noexcept { return settings_->replicas.count > 0; }
    /// Runs a script that keeps what is ours; `unconfirmed` if too few replicas have that in time.
    /// Where replicas are not waited for, as `exec`.
    void exec_confirmed(call&& what, exec_handler&& handler);
    /// Whether a reply is a grant.
    using is_grant = std::function<bool(script_reply const&)>;
    /// Runs a script that may grant something. If it does, `again` is run where replicas are waited
    /// for, and its reply is the answer: it grants the same once more, or says that it is lost.
    /// `unconfirmed` if too few replicas have it in time: then it has to be taken back.
    void exec_granting(call&& what, call&& again, is_grant granted, exec_handler&& handler);
    [[nodiscard]] bool can_execute() const;
    /// Requests about this one can be sent. Else its server is being connected to.
    [[nodiscard]] bool can_execute(target const& on) const;
    /// Requests about this one can be sent that may grant something, to whomever.
    [[nodiscard]] bool may_attempt(target const& on) const {
        return can_execute(on) && !grants_held_back(on);
    }
    /// The same, and its server has sent something within this time, or no request waits for it.
    [[nodiscard]] bool may_be_answered(target const& on, nanos within) const;
    /// Why they cannot; success if they can.
    [[nodiscard]] error_code why_no_attempt(target const& on) const {
        bool const waits = can_execute(on) && grants_held_back(on);
        return waits ? make_error_code(errc::server_refused) : why_down(on).cause;
    }
    /// Requests about this one may be sent, except those that may grant something.
    [[nodiscard]] bool grants_held_back(target const& on) const {
        return settings().lock_delay > millis{0} && is_held_back(on);
    }
    /// Another server may still have holders that the one of this number knows nothing of. With
    /// `config::lock_delay` each server counts as held back until it is said not to be: requests
    /// may reach it before the client is told of its connection.
    void hold_grants_back(std::uint32_t server, bool now);
    /// The number of the server that has a slot, where that is known.
    [[nodiscard]] std::optional<std::uint32_t> server_of(std::uint16_t slot) const {
        return backend_ ? backend_->server_of(slot) : std::nullopt;
    }
    [[nodiscard]] subscription subscribe(std::string channel, subscriber& to);
    /// Why nothing can be executed.
    [[nodiscard]] backend::obstacle why_down() const;
    /// The same of requests about this one.
    [[nodiscard]] backend::obstacle why_down(target const& on) const;
    /// A cause that does not pass by itself, while there is no connection for it.
    [[nodiscard]] error_code failure() const;
    [[nodiscard]] error_code failure(target const& on) const;
    /// The keys are spread over the slots of a cluster.
    [[nodiscard]] bool clustered() const noexcept { return clustered_; }
    /// One server has the keys of both, and its slots do not keep them apart.
    [[nodiscard]] bool in_one_slot(target const& a, target const& b) const noexcept;
    /// Whether one script may have the keys of both.
    [[nodiscard]] bool may_share_a_call(target const& a, target const& b) const noexcept;
    /// Some of what a client holds and waits for: that of one server, usually all.
    using some = std::function<bool(target const&)>;
    [[nodiscard]] static some everything() {
        return [](target const&) { return true; };
    }
    /// Those that the server of a connection has.
    [[nodiscard]] some those_of(connection_id which) const;
    /// Those with these keys.
    [[nodiscard]] static some those_with(std::function<bool(std::string_view key)> these);
    [[nodiscard]] holder_id make_holder_id();
    /// What is known of a server since it was connected to.
    [[nodiscard]] server_knowledge& server(std::uint32_t number = 0);
    /// Of the one that has the keys of the target.
    [[nodiscard]] server_knowledge& server(target const& on);
    /// Locks are handed over between clients: the settings and the user's rights allow it.
    [[nodiscard]] bool hands_over() const noexcept {
        return settings_->hand_over && !hand_over_denied_;
    }
    /// The same of this one: not every kind of lock is handed over.
    [[nodiscard]] bool hands_over(target const& on) const noexcept;
    /// The user has not the rights. False if that was known before.
    bool deny_hand_over() noexcept { return !std::exchange(hand_over_denied_, true); }
    /// The user may read and write how long locks are usually held, as far as is known.
    [[nodiscard]] bool learns() const noexcept { return !learning_denied_; }
    /// A request for a learned lease was forbidden: from now on leases are ordinary ones.
    void deny_learning();
    /// In [0, 1).
    [[nodiscard]] double random_part() { return std::generate_canonical<double, 32>(jitter_); }
    /// What a line of the log is about: a cause, which is the same for all locks, and a lock.
    struct subject {
        std::string_view cause;
        std::string_view lock;
    };
    /// Logs a line. A warning or an error that repeats is left out, but for one line after each
    /// pause; see `repetition`.
    void log(log_level level, subject about, std::string_view message);
    /// The same where the message is the cause, and concerns no lock.
    void log(log_level level, std::string_view message) { log(level, {message, {}}, message); }
    /// A lock or permits were freed, and the message to those who wait was refused. It is counted
    /// and logged.
    void on_not_notified(target const& on);

    // From any thread, without a mutex.
    /// A holder discarded a lease. False if that was noted before.
    [[nodiscard]] bool note_discarded_lease() noexcept {
        return !discarded_lease_.exchange(true, std::memory_order_relaxed);
    }
    /// Tells the observer, if there is one.
    template <class F>
    void tell_observer(F f) const {
        if (auto* const told = settings_->observer.get()) {
            f(*told);
        }
    }
    /// What this client counts, for those who read it when the client is gone.
    [[nodiscard]] stats_source statistics() const noexcept { return {kept_, count_}; }
    /// Of an acquisition; zero without an observer.
    [[nodiscard]] std::uint64_t next_acquisition() noexcept {
        return settings_->observer ? acquisitions_begun_.fetch_add(1, std::memory_order_relaxed) + 1
                                   : 0;
    }

protected:
    /// @throws std::system_error if the system has no random bits to give.
    client_context(asio::any_io_executor executor, config settings);

    /// From any thread.
    void close() noexcept { closed_.store(true, std::memory_order_release); }
    /// The executor's context is being destroyed.
    void mark_gone() noexcept { gone_.store(true, std::memory_order_release); }
    /// There is no server of this number any more.
    void forget_server(std::uint32_t number) noexcept { servers_.erase(number); }
    /// Lets go of all that belongs to it.
    void leave_context() noexcept;
    /// Logs what was left out so far. Nothing is put off after this.
    void end_log();

    // For the client.
    std::shared_ptr<config const> settings_;
    // What is kept is what is counted; who counts shares `count_`.
    std::shared_ptr<counters> kept_;
    std::shared_ptr<counters> count_;
    std::unique_ptr<backend> backend_;
    node_status node_;
    bool clustered_ = false;

private:
    [[nodiscard]] bool is_held_back(target const& on) const;
    void log_due(time_point by);
    void log_later();
    void confirm_grant(call&& again, is_grant granted, exec_handler&& handler);
    [[nodiscard]] replication replication_of(call const& what) const noexcept;

    asio::any_io_executor executor_;
    std::shared_ptr<context_gate> gate_;
    detail::strand typed_strand_;
    /// The same, and never inside the call.
    detail::strand later_;
    /// The same, erased.
    asio::any_io_executor strand_;
    std::uint64_t const forks_;  // of the process, at the client's beginning
    std::string client_id_;
    std::uint64_t next_number_;  // of a holder id; the first one is random
    std::minstd_rand jitter_;
    repetition logged_;
    std::optional<timer> log_timer_;
    time_point log_due_at_ = time_point::max();
    bool log_ended_ = false;
    std::map<std::uint32_t, server_knowledge> servers_;
    // By any server.
    bool hand_over_denied_ = false;
    bool learning_denied_ = false;
    std::atomic<bool> gone_{false};
    std::atomic<bool> closed_{false};
    std::atomic<bool> discarded_lease_{false};
    std::atomic<std::uint64_t> acquisitions_begun_{0};
    // The servers that are not held back.
    std::set<std::uint32_t> granting_;
};

/// Calls `f(object, type)` on the client's strand when the operation is cancelled, if the object is
/// still there. To be used in the initiating function only.
///
/// The slot holds no reference to the object: the object owns the handler, the handler owns the
/// slot, and they would keep each other alive.
template <class... Results, class T, class F>
void on_cancel_in_strand(
    pending_handler<Results...>& waiting,
    std::weak_ptr<T> object,
    std::shared_ptr<client_context> client,
    F f
) {
    waiting.on_cancel(
        [object = std::move(object), client = std::move(client), f](asio::cancellation_type type) {
            if (type == asio::cancellation_type::none) {
                return;
            }
            client->on_strand([object, f, type] {
                if (auto const there = object.lock()) {
                    f(*there, type);
                }
            });
        }
    );
}

/// Completes the operation at once with `operation_aborted` when it is cancelled, whatever the
/// type; what was begun goes on.
template <class... Results>
void abort_on_cancel(
    std::shared_ptr<pending_handler<error_code, Results...>> const& waiting,
    std::shared_ptr<client_context> const& client
) {
    auto const abort = [](pending_handler<error_code, Results...>& pending, auto) {
        pending.complete(asio::error::operation_aborted, Results{}...);
    };
    on_cancel_in_strand(*waiting, std::weak_ptr{waiting}, client, abort);
}

}  // namespace holdfast::detail

#endif
