#include "soak/hand_overs.hpp"

#include "protocol/hand_over_message.hpp"

#include <utility>

namespace holdfast::soak {

hand_overs::hand_overs(cell& where) : where_{where}, probe_{where.server().probe()} {
    probe_.psubscribe("holdfast_client:*");
}

std::optional<hand_overs::parts> hand_overs::wait(std::chrono::milliseconds limit) {
    using kind = detail::hand_over_message::kind;
    auto const until = std::chrono::steady_clock::now() + limit;
    for (;;) {
        auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now()
        );
        auto const heard = left.count() > 0 ? probe_.next_message(left) : std::nullopt;
        if (!heard) {
            return std::nullopt;
        }
        auto const said = detail::read_hand_over_message(heard->payload);
        if (!said) {
            continue;
        }
        auto const client = client_of(said->holder);
        if (said->what == kind::next) {
            return parts{.next = where_.worker_of(client)};
        }
        if (said->what == kind::grant) {
            auto const before = std::exchange(holders_[std::string{said->lock}], client);
            return parts{
                .releaser = where_.worker_of(before),
                .receiver = where_.worker_of(client)
            };
        }
    }
}

}  // namespace holdfast::soak
