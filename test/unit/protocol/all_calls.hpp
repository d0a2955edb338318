#ifndef HOLDFAST_TEST_UNIT_PROTOCOL_ALL_CALLS_HPP
#define HOLDFAST_TEST_UNIT_PROTOCOL_ALL_CALLS_HPP

#include "protocol/counted.hpp"
#include "protocol/election.hpp"
#include "protocol/fair_lock.hpp"
#include "protocol/lock.hpp"
#include "protocol/multi_lock.hpp"
#include "protocol/quorum_lock.hpp"
#include "protocol/read_write_lock.hpp"
#include "protocol/semaphore.hpp"

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// Makes the target of one kind.
using kind = detail::target (*)(std::string_view prefix, std::string_view name);

inline constexpr kind kinds[] = {
    &detail::make_lock_target,
    &detail::make_fair_lock_target,
    &detail::make_read_lock_target,
    &detail::make_write_lock_target,
    &detail::make_semaphore_target,
    &detail::make_counting_semaphore_target,
    [](std::string_view prefix, std::string_view name) {
        return detail::make_latch_target(prefix, name);
    },
    &detail::make_quorum_lock_target,
};

inline std::vector<detail::call> calls_about_leases(
    detail::target const& on,
    detail::holder_id const& id
) {
    using namespace std::chrono_literals;
    using detail::primitive;
    auto const& speaks = *on.speaks;
    primitive::attempt const attempt{
        .on = on,
        .id = id,
        .lease = 30s,
        .counter_ttl = 1h,
        .preflight = true,
        .timeout = 3s,
        .tokens = 2,
        .hand_over = true,
        .window = 1s,
        .learned = primitive::learning{1s, 4},
        .patience = 1s,
    };
    primitive::member const member{&on, id, 30s};
    std::vector<detail::call> all{
        speaks.acquire(attempt),
        speaks.take_over(attempt, {}),
        speaks.renew({
            .on = on,
            .id = id,
            .lease = 30s,
            .timeout = 3s,
            .tokens = 2,
            .counter_ttl = 1h,
            .learned = primitive::learning{1s, 4},
            .held = {1, 5ms},
        }),
        speaks.renew_many({&member, 1}, 3s),
        speaks.release({
            .on = on,
            .id = id,
            .timeout = 3s,
            .hand_over = true,
            .window = 1s,
            .next = primitive::queue_entry{id, 1s},
            .counter_ttl = 1h,
            .held = {1, 5ms},
            .patience = 1s,
        }),
        speaks.inspect(on, 3s, true),
        speaks.force_release(on, 3s, 1s),
    };
    if (detail::may_be_taken_together(on, on)) {
        all.push_back(detail::acquire_together({&attempt, 1}));
    }
    return all;
}

/// All calls that are made about a target with this holder id, with all that they can be asked for.
inline std::vector<detail::call> calls_about(
    detail::target const& on,
    detail::holder_id const& id
) {
    using namespace std::chrono_literals;
    if (!on.speaks) {
        namespace counted = detail::counted;
        counted::request const request{on, id, 1, 1h, 3s};
        counted::answered const answered{std::make_shared<detail::target const>(on), id};
        return {
            counted::try_set(request),
            counted::read(on, 3s),
            counted::count_down(request),
            counted::add(request),
            counted::drain(request),
            counted::attempt(on, id, 3s),
            counted::withdraw(on, id, 3s),
            counted::forget({&answered, 1}, 3s),
        };
    }
    auto all = calls_about_leases(on, id);
    switch (on.kind) {
        case detail::target_kind::lock: {
            config settings;
            auto const election = detail::make_election_keys(settings, on.lock);
            if (election.lock->valid()) {
                all.push_back(detail::proclaim({election, id, {7}, 1, "value", 1min, 3s}));
                all.push_back(detail::look(election, 3s));
            }
            break;
        }
        case detail::target_kind::semaphore: all.push_back(detail::set_permits(on, 3, 3s)); break;
        case detail::target_kind::quorum_lock:
            all.push_back(detail::raise_token({on, id, {7}, 1h, 3s}));
            break;
        default: break;
    }
    return all;
}

}  // namespace holdfast::test

#endif
