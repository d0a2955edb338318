#ifndef HOLDFAST_RUNTIME_GUARDED_EXECUTOR_HPP
#define HOLDFAST_RUNTIME_GUARDED_EXECUTOR_HPP

#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace holdfast::detail {

/// Open until its context begins to be destroyed. Who is inside by then is waited for.
///
/// @par Thread safety   Safe. A thread may enter more than once.
class context_gate {
public:
    /// That of `context`, which is not being destroyed.
    [[nodiscard]] static std::shared_ptr<context_gate> of(asio::execution_context& context);

    /// False if it is closed. After true, `leave` has to be called.
    [[nodiscard]] bool enter() noexcept;
    void leave() noexcept;
    /// Returns when everybody has left.
    void close() noexcept;

    [[nodiscard]] bool is_closed() const noexcept {
        return (state_.load(std::memory_order_acquire) & closed) != 0;
    }

private:
    static constexpr std::uint32_t closed = 1;
    static constexpr std::uint32_t one_inside = 2;

    // The lowest bit: it is closed. The others: twice the number of those inside.
    std::atomic<std::uint32_t> state_{0};
};

/// An executor of the user's, and the gate of its context.
///
/// The client posts to a holder's context to wake a keep-alive. The user does not know of these
/// posts, and may destroy the context on another thread meanwhile. Asio does not protect a context
/// from that. The gate does.
///
/// @par Thread safety   Safe for reading.
class guarded_executor {
public:
    /// Of nothing.
    guarded_executor() = default;
    /// The context of `executor` is not being destroyed.
    explicit guarded_executor(asio::any_io_executor executor)
        : executor_{std::move(executor)},
          gate_{context_gate::of(context())} {}
    /// `gate` is that of the executor's context.
    guarded_executor(asio::any_io_executor executor, std::shared_ptr<context_gate> gate) noexcept
        : executor_{std::move(executor)},
          gate_{std::move(gate)} {}

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(executor_); }
    [[nodiscard]] asio::any_io_executor const& get() const noexcept { return executor_; }
    [[nodiscard]] asio::execution_context& context() const noexcept {
        return asio::query(executor_, asio::execution::context);
    }

    /// The context is being destroyed, or was.
    [[nodiscard]] bool context_is_going() const noexcept { return gate_ && gate_->is_closed(); }

    /// Calls `post`, which may post to the context: it is not destroyed meanwhile.
    /// @returns false if it is being destroyed. Then nothing was called.
    template <class Post>
    [[nodiscard]] bool while_alive(Post post) const {
        if (!gate_->enter()) {
            return false;
        }
        struct exit {
            context_gate& gate;
            ~exit() { gate.leave(); }
        } const at_the_end{*gate_};
        post();
        return true;
    }

private:
    asio::any_io_executor executor_;
    std::shared_ptr<context_gate> gate_;
};

}  // namespace holdfast::detail

#endif
