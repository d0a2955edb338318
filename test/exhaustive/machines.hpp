#ifndef HOLDFAST_EXHAUSTIVE_MACHINES_HPP
#define HOLDFAST_EXHAUSTIVE_MACHINES_HPP

#include "core/acquire_fsm.hpp"
#include "core/lease_fsm.hpp"
#include "core/room_fsm.hpp"
#include "exhaustive/scope.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace holdfast::exhaustive {

/// Well mixed, for hash tables whose size is a power of two.
inline std::uint64_t mixed(std::uint64_t x) noexcept {
    x ^= x >> 32U;
    x *= 0xd6e8feb86659fd93U;
    x ^= x >> 32U;
    x *= 0xd6e8feb86659fd93U;
    x ^= x >> 32U;
    return x;
}

/// A hash of a value without padding.
template <class T>
std::uint64_t hash_of_bytes(T const& value) noexcept {
    static_assert(std::has_unique_object_representations_v<T>);
    std::uint64_t result = sizeof(T);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(&value);
    for (std::size_t i = 0; i < sizeof(T); i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + i, std::min(sizeof word, sizeof(T) - i));
        result = (result ^ word) * 0x9e3779b97f4a7c15U;
        result ^= result >> 29U;
    }
    return mixed(result);
}

/// Numbers for values: equal values have the same one. Numbers begin at 1, so that 0 can stand for
/// none.
template <class T, class Hash>
class value_table {
public:
    value_table() : slots_(64) {}

    [[nodiscard]] T const& operator[](std::uint32_t number) const { return values_[number - 1]; }
    [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

    std::uint32_t number_of(T const& value) {
        auto const hash = Hash{}(value);
        auto const mask = slots_.size() - 1;
        for (auto at = hash & mask;; at = (at + 1) & mask) {
            auto const there = slots_[at];
            if (there.number == 0) {
                values_.push_back(value);
                slots_[at] = {static_cast<std::uint32_t>(values_.size()), tag_of(hash)};
                if (2 * values_.size() > slots_.size()) {
                    grow();
                }
                return static_cast<std::uint32_t>(values_.size());
            }
            if (there.tag == tag_of(hash) && values_[there.number - 1] == value) {
                return there.number;
            }
        }
    }

private:
    struct slot {
        std::uint32_t number = 0;
        /// Other bits of the hash than those that give the place.
        std::uint32_t tag = 0;
    };

    static std::uint32_t tag_of(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>(hash >> 32U);
    }

    void grow() {
        slots_.assign(2 * slots_.size(), {});
        auto const mask = slots_.size() - 1;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            auto const hash = Hash{}(values_[i]);
            auto at = hash & mask;
            while (slots_[at].number != 0) {
                at = (at + 1) & mask;
            }
            slots_[at] = {static_cast<std::uint32_t>(i + 1), tag_of(hash)};
        }
    }

    std::vector<T> values_;
    std::vector<slot> slots_;
};

/// The lease clock at a tick. A tick is a millisecond, the unit of the scripts.
inline detail::time_point time_at(tick t) noexcept {
    return detail::time_point{detail::millis{t}};
}

inline tick later(tick from, tick by) noexcept {
    return from >= never || by >= never - from ? never : static_cast<tick>(from + by);
}

inline tick tick_at(detail::time_point at) {
    if (at >= time_at(never)) {
        return never;
    }
    auto const since = at.time_since_epoch();
    if (since < detail::nanos{0}) {
        return 0;
    }
    if (since % detail::millis{1} != detail::nanos{0}) {
        throw std::logic_error("an instant between two ticks");
    }
    return static_cast<tick>(since / detail::millis{1});
}

inline detail::nanos duration_of(tick t) noexcept {
    // Longer than any run.
    return t >= never ? detail::nanos{std::chrono::hours{1}} : detail::nanos{detail::millis{t}};
}

inline bool is_alive(lease_state state) noexcept {
    return state == lease_state::held || state == lease_state::in_doubt;
}

/// The machines are values, of which there are few. A world holds their numbers.
///
/// Their hashes are made of what they show; what they hide is compared.
class machines {
public:
    struct hash_of_acquire {
        std::uint64_t operator()(detail::acquire_fsm const& m) const noexcept {
            return (m.in_flight() ? 1U : 0U) + (m.done() ? 2U : 0U);
        }
    };
    struct hash_of_room {
        std::uint64_t operator()(detail::room_fsm const& m) const noexcept {
            auto const at = m.attempt_at();
            auto const when = at ? static_cast<std::uint64_t>(at->time_since_epoch().count()) : 1U;
            return mixed(
                when + (m.wants_notices() ? 2U : 0U) + (m.last_answer_was_busy() ? 4U : 0U)
            );
        }
    };
    struct hash_of_lease {
        std::uint64_t operator()(detail::lease_fsm const& m) const noexcept {
            auto copy = m;
            auto const state = static_cast<std::uint64_t>(copy.look(detail::time_point::min()));
            auto const next = copy.next(detail::time_point::min()).until.time_since_epoch();
            auto const ends = m.deadline().time_since_epoch();
            return mixed(
                mixed(static_cast<std::uint64_t>(next.count())) +
                static_cast<std::uint64_t>(ends.count()) + state
            );
        }
    };

    value_table<detail::acquire_fsm, hash_of_acquire> acquires;
    value_table<detail::room_fsm, hash_of_room> rooms;
    value_table<detail::lease_fsm, hash_of_lease> leases;

    /// Lets `change` work on the machine whose number is given, and makes it the number of what
    /// becomes of it.
    template <class Table, class Number, class Change>
    static auto run(Table& table, Number& number, Change change) {
        auto machine = table[number];
        using result = decltype(change(machine));
        if constexpr (std::is_void_v<result>) {
            change(machine);
            number = static_cast<Number>(table.number_of(machine));
        } else {
            auto const value = change(machine);
            number = static_cast<Number>(table.number_of(machine));
            return value;
        }
    }
};

}  // namespace holdfast::exhaustive

#endif
