#ifndef HOLDFAST_LEASE_SUCCESSORS_HPP
#define HOLDFAST_LEASE_SUCCESSORS_HPP

#include "core/lease_terms.hpp"
#include "protocol/primitive.hpp"

#include <cstddef>
#include <optional>

namespace holdfast::detail {

class hold;
struct target;

/// Those who wait for a lock of this client. One of them may follow the holder without a word to
/// the server. Used on the client's strand.
class successors {
public:
    struct waiters {
        std::size_t count = 0;
        /// They have a place in the server's queue, too.
        bool queued = false;
    };
    /// Those who wait for it.
    [[nodiscard]] virtual waiters waiting_for(target const& on) const noexcept = 0;
    /// What the first of them wants; nothing if nobody waits.
    [[nodiscard]] virtual lease_terms const* next_terms(target const& on) const noexcept = 0;
    /// Gives it to the first of them.
    virtual void take(hold& of) = 0;
    /// It is given back to the server, while some wait: their place in its queue.
    [[nodiscard]] virtual std::optional<primitive::queue_entry> next_entry(target const& on) = 0;
    /// This client holds it.
    virtual void on_held(hold& of) noexcept = 0;
    /// This client does not hold it any more.
    virtual void on_gone(target const& on) = 0;
    /// This client lost it. Nobody says whether another has it.
    virtual void on_lost(hold const& of) = 0;

protected:
    ~successors() = default;
};

}  // namespace holdfast::detail

#endif
