#ifndef HOLDFAST_TEST_SUPPORT_FOREIGN_PROTOCOL_HPP
#define HOLDFAST_TEST_SUPPORT_FOREIGN_PROTOCOL_HPP

#include "support/foreign/scripts.hpp"
#include "support/resp.hpp"

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// Who else uses our locks.
enum class dialect {
    /// Redisson's RLock, as version 4.7 has it. It gives out no tokens.
    redisson,
    /// Redisson's RFencedLock.
    redisson_fenced,
    /// Version 0.1 of this library.
    first_version,
};

std::ostream& operator<<(std::ostream& out, dialect speaks);

struct foreign_keys {
    explicit foreign_keys(std::string name);

    std::string lock;
    std::string counter;
    std::string channel;
};

struct foreign_call {
    foreign_script const* script;
    std::vector<std::string> words;  // the number of keys, the keys, the arguments
};

struct foreign_answer {
    bool granted = false;
    std::uint64_t token = 0;                               // 0: none
    std::optional<std::chrono::milliseconds> remaining{};  // none: the lease has no end
};

enum class foreign_release { freed, still_held, not_held };

/// What a client of one dialect says to the server, and how it reads the replies. An error reply
/// is thrown as a `std::runtime_error`.
class foreign_protocol {
public:
    using millis = std::chrono::milliseconds;

    virtual ~foreign_protocol() = default;

    /// What holds a lock: a thread of the client's, or an acquisition.
    virtual std::string holder(std::int64_t thread) = 0;

    virtual foreign_call acquire(
        foreign_keys const& on,
        std::string const& holder,
        millis lease
    ) = 0;
    virtual foreign_answer read_acquire(redis_value const& reply) = 0;

    virtual foreign_call renew(foreign_keys const& on, std::string const& holder, millis lease) = 0;
    /// Whether it is still held.
    virtual bool read_renew(redis_value const& reply) = 0;

    virtual foreign_call release(
        foreign_keys const& on,
        std::string const& holder,
        millis lease
    ) = 0;
    virtual foreign_release read_release(redis_value const& reply) = 0;
    /// A command that is sent after the reply to a release, and whose own reply nobody waits for;
    /// may be empty.
    virtual std::vector<std::string> after(foreign_call const& release) = 0;
};

[[nodiscard]] std::unique_ptr<foreign_protocol> speak(dialect chosen);

}  // namespace holdfast::test

#endif
