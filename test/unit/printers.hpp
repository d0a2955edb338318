#ifndef HOLDFAST_TEST_UNIT_PRINTERS_HPP
#define HOLDFAST_TEST_UNIT_PRINTERS_HPP

#include "core/acquire_fsm.hpp"
#include "core/lease_fsm.hpp"
#include "core/multi_acquire_fsm.hpp"
#include "core/release_fsm.hpp"
#include "redis/replies.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <ostream>

// Shows what the machines say in the message of a failed check.

namespace holdfast {

inline std::ostream& operator<<(std::ostream& out, lease_state state) {
    return out << to_string(state);
}

inline std::ostream& operator<<(std::ostream& out, loss_reason reason) {
    return out << to_string(reason);
}

inline std::ostream& operator<<(std::ostream& out, errc value) {
    return out << make_error_code(value).message();
}

/// Instants of the lease clock in milliseconds.
inline std::ostream& operator<<(std::ostream& out, lease_clock::time_point at) {
    return out << std::chrono::duration<double, std::milli>(at.time_since_epoch()).count() << "ms";
}

namespace detail {

inline bool operator==(lease_fsm::step const& a, lease_fsm::step const& b) {
    return a.kind == b.kind && a.until == b.until;
}

inline std::ostream& operator<<(std::ostream& out, lease_fsm::step const& step) {
    constexpr std::array names{"sleep", "renew", "finish"};
    return out << names.at(static_cast<std::size_t>(step.kind)) << " until " << step.until;
}

inline bool operator==(acquire_fsm::verdict const& a, acquire_fsm::verdict const& b) {
    return a.kind == b.kind && a.error == b.error && a.withdraw == b.withdraw;
}

inline std::ostream& operator<<(std::ostream& out, acquire_fsm::verdict const& verdict) {
    constexpr std::array names{"go_on", "deliver", "finish", "abort"};
    return out << names.at(static_cast<std::size_t>(verdict.kind)) << " ("
               << verdict.error.message() << ")" << (verdict.withdraw ? ", withdraw" : "");
}

inline std::ostream& operator<<(std::ostream& out, multi_acquire_fsm::action const& what) {
    constexpr std::array names{"wait", "together", "take", "deliver", "finish", "abort"};
    return out << names.at(static_cast<std::size_t>(what.what)) << " keeping " << what.kept << " ("
               << what.error.message() << ")";
}

inline std::ostream& operator<<(std::ostream& out, attempt_answer answer) {
    constexpr std::array
        names{"granted", "busy", "refused", "failed", "not_sent", "unknown", "unconfirmed"};
    return out << names.at(static_cast<std::size_t>(answer));
}

inline bool operator==(release_fsm::verdict const& a, release_fsm::verdict const& b) {
    return a.tell == b.tell && a.error == b.error && a.over == b.over &&
           a.left_behind == b.left_behind && a.lost == b.lost;
}

inline std::ostream& operator<<(std::ostream& out, release_fsm::verdict const& verdict) {
    if (verdict.tell) {
        out << "tell (" << verdict.error.message() << ") ";
    }
    return out << (verdict.over ? "over " : "go_on ") << (verdict.left_behind ? "left_behind " : "")
               << verdict.lost;
}

inline std::ostream& operator<<(std::ostream& out, server_error::effect what) {
    constexpr std::array names{"transient", "no_script", "permanent", "uncertain"};
    return out << names.at(static_cast<std::size_t>(what));
}

}  // namespace detail
}  // namespace holdfast

#endif
