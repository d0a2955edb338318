#ifndef HOLDFAST_TEST_CHAOS_PERMITS_POOL_RECORD_HPP
#define HOLDFAST_TEST_CHAOS_PERMITS_POOL_RECORD_HPP

#include "support/shared_record.hpp"

#include <holdfast/lease_clock.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::test {

/// The resource that permits are for. It lies in a file that several processes share, and knows for
/// each holder until when its permits are valid: a process that was killed leaves its own behind.
class pool_record {
public:
    static constexpr std::size_t most_holders = 4096;

    /// Makes the file if it is not there.
    explicit pool_record(std::string const& path) : record_{path} {}

    /// This holder acts with so many permits, no longer than `until`.
    void enter(std::size_t holder, std::int64_t permits, lease_clock::time_point until);
    void leave(std::size_t holder);

    /// The most permits that were valid at a time, and how often somebody entered.
    [[nodiscard]] std::int64_t most() const;
    [[nodiscard]] std::int64_t entries() const;

private:
    struct holder_entry {
        std::int64_t permits;
        std::int64_t until;
    };
    struct contents {
        std::int64_t most;
        std::int64_t entries;
        std::array<holder_entry, most_holders> holders;
    };

    shared_record<contents> record_;
};

}  // namespace holdfast::test

#endif
