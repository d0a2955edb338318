#ifndef HOLDFAST_ACQUIRE_ANSWERED_REQUESTS_HPP
#define HOLDFAST_ACQUIRE_ANSWERED_REQUESTS_HPP

#include "core/holder_id.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"
#include "runtime/runtime.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// The server remembers which requests it has executed, in case one comes again. This tells it of
/// those that were answered and will not, a few at a time. What it is not told of it forgets by
/// itself, later. Used on the client's strand; it is a part of the client.
class answered_requests {
public:
    /// Long enough for many to go together, and short beside the time that a server remembers them.
    static constexpr millis usual_delay{1'000};

    /// None is kept for longer than `longest_delay` before the server is told.
    explicit answered_requests(client_context& client, millis longest_delay = usual_delay)
        : client_{client},
          longest_delay_{longest_delay} {}

    /// The only request with this id was answered.
    void add(std::shared_ptr<target const> on, holder_id const& id) noexcept;
    void tell() noexcept;
    /// Nothing is left to be told, and nothing is under way.
    [[nodiscard]] bool idle() const noexcept { return answered_.empty() && under_way_ == 0; }
    /// Called when it becomes idle.
    void set_on_idle(std::function<void()> f) { on_idle_ = std::move(f); }
    void clear() noexcept;

private:
    struct answered {
        std::shared_ptr<target const> on;
        holder_id id;
    };

    void arm();
    void tell(std::span<answered const> some) noexcept;

    client_context& client_;
    millis longest_delay_;
    std::vector<answered> answered_;
    std::size_t under_way_ = 0;
    std::function<void()> on_idle_;
    std::optional<timer> timer_;
};

}  // namespace holdfast::detail

#endif
