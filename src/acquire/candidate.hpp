#ifndef HOLDFAST_ACQUIRE_CANDIDATE_HPP
#define HOLDFAST_ACQUIRE_CANDIDATE_HPP

#include "core/holder_id.hpp"
#include "core/lease_terms.hpp"
#include "protocol/primitive.hpp"

#include <holdfast/fencing_token.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::detail {

/// The holder id under which a client tries to get a lock for those that wait in its queue. It is
/// used for one grant at most: once that is made, or a withdrawal is sent, the id is not used
/// again.
struct candidate {
    candidate(holder_id const& of, millis to_claim, lease_terms const& wanted)
        : id{of},
          window{to_claim},
          terms{wanted} {}

    /// The server's last answer gave it a place in its queue.
    void on_placed(queue_place const& given, time_point sent_at) noexcept {
        queued_at = score == 0 ? sent_at : queued_at;
        asked_at = sent_at;
        // mutant: place-lost-on-reconnection
        score = given.score;
        place = given;
    }
    /// It takes the place of one that is given up.
    void on_follows(candidate const& former) noexcept {
        score = former.score;
        queued_at = former.queued_at;
        asked_at = former.asked_at;
    }
    /// It keeps its score for as long as it waits, and states it whenever it asks: if the server
    /// has lost its place meanwhile, it has lost only the turns that passed.
    [[nodiscard]] former_place had(time_point now) const noexcept {
        using std::chrono::floor;
        using std::chrono::microseconds;
        return score == 0 ? former_place{}
                          : former_place{
                                score,
                                floor<microseconds>(now - queued_at),
                                floor<microseconds>(now - asked_at)
                            };
    }

    /// A grant that the server made without a request.
    struct grant {
        fencing_token token;
        std::uint64_t server_time;
        millis window;
    };

    holder_id id;
    /// How long the server keeps the lock for it.
    millis window;
    /// Its place in the server's queue, as far as it is known to have one.
    std::optional<queue_place> place;
    std::uint64_t score = 0;
    time_point queued_at{};
    time_point asked_at{};
    /// Of the attempts so far: what the server may have granted.
    lease_terms terms;
    /// A request asked for a place, or for the lock: something of it may be on the server.
    bool asked_for_place = false;
    bool unsure = false;
    bool in_flight = false;
    /// It has the lock, or was withdrawn.
    bool over = false;
    /// It came before the reply that gave it its place.
    std::optional<grant> early;
};

}  // namespace holdfast::detail

#endif
