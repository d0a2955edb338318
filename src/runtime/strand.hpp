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

/// What the copies of a strand share.
class strand_state : public std::enable_shared_from_this<strand_state> {
public:
    strand_state(strand_state const&) = delete;
    strand_state& operator=(strand_state const&) = delete;
    virtual ~strand_state() = default;

    /// What the strand was made of.
    [[nodiscard]] virtual asio::any_io_executor inner() const = 0;

    [[nodiscard]] asio::execution_context& context() const noexcept { return context_; }
    [[nodiscard]] bool running_in_this_thread() const noexcept {
        return queue_.runs_in_this_thread();
    }

    /// The caller keeps the state until the call, but not during it: what runs at once may destroy
    /// the last executor of the strand.
    template <class Function>
    void execute(Function&& f, bool may_block) {
        if (running_in_this_thread()) {
            // The turn keeps the state.
            if (may_block) {
                call(std::forward<Function>(f));
            } else {
                queue_.add(std::forward<Function>(f), [this] { schedule(false); });
            }
            return;
        }
        auto const self = shared_from_this();
        if (may_block && context_runs_here() && queue_.claim()) {
            queue_.run([&] { call(std::forward<Function>(f)); }, [this] { schedule(false); });
            return;
        }
        queue_.add(std::forward<Function>(f), [this, may_block] { schedule(may_block); });
    }

protected:
    class turn;

    explicit strand_state(asio::execution_context& of) noexcept : context_{of} {}

private:
    /// True where a function may run without being handed to the context first.
    [[nodiscard]] virtual bool context_runs_here() const noexcept = 0;
    /// Has the context take a turn.
    virtual void schedule(bool may_block) = 0;

    // It is a function's own that is called, and gone before what comes next.
    template <class Function>
    static void call(Function&& f) {
        std::decay_t<Function> now{std::forward<Function>(f)};
        std::move(now)();
    }

    asio::execution_context& context_;
    strand_queue queue_;
};

/// What Asio asks of an executor. `Self` derives from it and adds how it is made.
template <class Self, class Handle>
class strand_executor {
public:
    /// Whether this thread runs one of its functions.
    [[nodiscard]] bool running_in_this_thread() const noexcept {
        return state_->running_in_this_thread();
    }

    template <class Function>
    void execute(Function&& f) const {
        state_->execute(std::forward<Function>(f), may_block_);
    }

    friend bool operator==(strand_executor const& a, strand_executor const& b) noexcept {
        return a.state_ == b.state_ && a.may_block_ == b.may_block_;
    }
    friend bool operator!=(strand_executor const& a, strand_executor const& b) noexcept {
        return !(a == b);
    }

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return state_->context();
    }
    // Never `always`: a function may have to wait for others, and the caller cannot wait for it.
    [[nodiscard]] asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept {
        return may_block_ ? asio::execution::blocking_t{asio::execution::blocking.possibly}
                          : asio::execution::blocking_t{asio::execution::blocking.never};
    }
    [[nodiscard]] Self require(asio::execution::blocking_t::never_t) const {
        return Self{state_, false};
    }
    [[nodiscard]] Self require(asio::execution::blocking_t::possibly_t) const {
        return Self{state_, true};
    }

protected:
    strand_executor() = default;
    strand_executor(Handle of, bool may_block) noexcept
        : state_{std::move(of)},
          may_block_{may_block} {}

    [[nodiscard]] Handle const& state() const noexcept { return state_; }
    [[nodiscard]] bool may_block() const noexcept { return may_block_; }

private:
    Handle state_{};
    bool may_block_ = true;
};

/// Refers to a strand and does not keep it: the owner keeps the strand until the last call and the
/// last comparison. Copies cost nothing.
class borrowed_strand : public strand_executor<borrowed_strand, strand_state*> {
public:
    borrowed_strand() = default;

private:
    friend strand_executor;
    friend class strand;

    using strand_executor::strand_executor;
};

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
class strand : public strand_executor<strand, std::shared_ptr<strand_state>> {
public:
    /// Of nothing: only to be assigned to and destroyed.
    strand() = default;

    /// Where `of` is an executor of one of Asio's own contexts, its real type is used.
    // A template, so that nothing that can be turned into an executor is wrapped unseen.
    template <std::same_as<asio::any_io_executor> Executor>
    explicit strand(Executor const& of) : strand{make_state(of), true} {}

    /// What the strand was made of. What is posted there comes after all that waits there by now.
    [[nodiscard]] asio::any_io_executor inner() const { return state()->inner(); }

    [[nodiscard]] borrowed_strand borrow() const noexcept { return {state().get(), may_block()}; }

private:
    friend strand_executor;

    using strand_executor::strand_executor;

    static std::shared_ptr<strand_state> make_state(asio::any_io_executor const& of);
};

/// The strand that was erased to `executor`, or else a new one of it.
[[nodiscard]] strand strand_of(asio::any_io_executor const& executor);

}  // namespace holdfast::detail

#endif
