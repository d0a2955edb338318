#ifndef HOLDFAST_RUNTIME_STRAND_HPP
#define HOLDFAST_RUNTIME_STRAND_HPP

#include "runtime/strand_queue.hpp"

#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace holdfast::detail {

/// A strand whose functions go on in the same turn with what they post to it.
///
/// `asio::strand` goes back to its context after each batch, and the context asks the system for
/// events before the next one: five times for one exchange with the server. This one keeps the
/// thread for `strand_queue::most_added_in_a_turn` functions more. In all else it is like Asio's:
/// functions run one at a time, in the order of their submission, and see what the earlier ones
/// did.
///
/// It is one type whatever it is made of, so that Boost.Redis can be instantiated for it: an erased
/// executor is copied, moved and called through tables, some hundred times a request.
///
/// It does not keep its context busy: what waits for it does.
class strand {
public:
    /// Of nothing: only to be assigned to and destroyed.
    strand() = default;

    /// Where `of` is an executor of one of Asio's own contexts, its real type is used.
    // A template, so that nothing that can be turned into an executor is wrapped unseen.
    template <std::same_as<asio::any_io_executor> Executor>
    explicit strand(Executor const& of) : state_{make_state(of)} {}

    /// What the strand was made of. What is posted there comes after all that waits there by now.
    [[nodiscard]] asio::any_io_executor inner() const { return state_->inner(); }

    /// Whether this thread runs one of its functions.
    [[nodiscard]] bool running_in_this_thread() const noexcept {
        return state_->queue.runs_in_this_thread();
    }

    template <class Function>
    void execute(Function&& f) const {
        // Kept: what runs at once may destroy this executor.
        auto const to = state_;
        auto const again = [&] { to->schedule(to, false); };
        if (may_block_) {
            if (to->queue.runs_in_this_thread()) {
                call(std::forward<Function>(f));
                return;
            }
            if (to->context_runs_here() && to->queue.claim()) {
                to->queue.run([&] { call(std::forward<Function>(f)); }, again);
                return;
            }
        }
        to->queue.add(std::forward<Function>(f), [&] { to->schedule(to, may_block_); });
    }

    friend bool operator==(strand const& a, strand const& b) noexcept {
        return a.state_ == b.state_ && a.may_block_ == b.may_block_;
    }
    friend bool operator!=(strand const& a, strand const& b) noexcept { return !(a == b); }

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return state_->context;
    }
    // Never `always`: a function may have to wait for others, and the caller cannot wait for it.
    [[nodiscard]] asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept {
        return may_block_ ? asio::execution::blocking_t{asio::execution::blocking.possibly}
                          : asio::execution::blocking_t{asio::execution::blocking.never};
    }
    [[nodiscard]] strand require(asio::execution::blocking_t::never_t) const {
        return {state_, false};
    }
    [[nodiscard]] strand require(asio::execution::blocking_t::possibly_t) const {
        return {state_, true};
    }

private:
    /// What the copies of a strand share.
    struct state {
        explicit state(asio::execution_context& of) : context{of} {}
        state(state const&) = delete;
        state& operator=(state const&) = delete;
        virtual ~state() = default;

        [[nodiscard]] virtual asio::any_io_executor inner() const = 0;
        /// True where a function may run without being handed to the context first.
        [[nodiscard]] virtual bool context_runs_here() const noexcept = 0;
        /// Has the context take a turn.
        virtual void schedule(std::shared_ptr<state> const& self, bool may_block) = 0;

        asio::execution_context& context;
        strand_queue queue;
    };
    template <class Executor>
    class state_of;
    class turn;

    strand(std::shared_ptr<state> of, bool may_block) noexcept
        : state_{std::move(of)},
          may_block_{may_block} {}

    static std::shared_ptr<state> make_state(asio::any_io_executor const& of);

    // It is a function's own that is called, and gone before what comes next.
    template <class Function>
    static void call(Function&& f) {
        std::decay_t<Function> now{std::forward<Function>(f)};
        std::move(now)();
    }

    std::shared_ptr<state> state_;
    bool may_block_ = true;
};

/// The strand that was erased to `executor`, or else a new one of it.
[[nodiscard]] strand strand_of(asio::any_io_executor const& executor);

}  // namespace holdfast::detail

#endif
