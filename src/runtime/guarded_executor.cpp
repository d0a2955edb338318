#include "runtime/guarded_executor.hpp"

namespace holdfast::detail {

// A context shuts its services down in the reverse order of their making: the gate is closed before
// the scheduler drops what waits there.
class gate_service final : public asio::execution_context::service {
public:
    using key_type = gate_service;
    inline static asio::execution_context::id id;

    explicit gate_service(asio::execution_context& context)
        : asio::execution_context::service{context},
          gate_{std::make_shared<context_gate>()} {}

    [[nodiscard]] std::shared_ptr<context_gate> const& gate() const noexcept { return gate_; }

private:
    void shutdown() noexcept override { gate_->close(); }

    std::shared_ptr<context_gate> gate_;
};

std::shared_ptr<context_gate> context_gate::of(asio::execution_context& context) {
    return asio::use_service<gate_service>(context).gate();
}

bool context_gate::enter() noexcept {
    if ((state_.fetch_add(one_inside, std::memory_order_acquire) & closed) == 0) {
        return true;
    }
    leave();
    return false;
}

void context_gate::leave() noexcept {
    if (state_.fetch_sub(one_inside, std::memory_order_release) == (one_inside | closed)) {
        state_.notify_all();
    }
}

void context_gate::close() noexcept {
    state_.fetch_or(closed, std::memory_order_relaxed);
    for (;;) {
        auto const now = state_.load(std::memory_order_acquire);
        if (now == closed) {
            return;
        }
        state_.wait(now, std::memory_order_acquire);
    }
}

}  // namespace holdfast::detail
