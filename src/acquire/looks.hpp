#ifndef HOLDFAST_ACQUIRE_LOOKS_HPP
#define HOLDFAST_ACQUIRE_LOOKS_HPP

#include "core/holder_id.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace holdfast::detail {

/// Looks after the locks that this client handed over: when a receiver has not claimed one in time,
/// because it died, the next client in the queue gets it. One look for each lock, after the last of
/// its hand-overs. A fair lock whose first waiter does not listen is looked after until one does.
/// Used on the client's strand.
class looks {
public:
    explicit looks(client_context& client) : client_{client} {}

    /// Looks at `at`, and not before. `dead`: a holder id that was given back.
    void later(std::shared_ptr<target const> on, holder_id const& dead, time_point at);
    void clear() noexcept;

private:
    struct look {
        std::shared_ptr<target const> on;
        holder_id dead;
    };

    void arm();
    void on_timer();
    void send(look const& what);

    client_context& client_;
    std::multimap<time_point, look> due_;
    // When to look after the last hand-over. The names are those of the targets.
    std::unordered_map<target_key, time_point, target_key_hash> latest_;
    std::optional<timer> timer_;
};

}  // namespace holdfast::detail

#endif
