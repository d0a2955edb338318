#ifndef HOLDFAST_TEST_CHAOS_QUORUM_HOLDER_RECORD_HPP
#define HOLDFAST_TEST_CHAOS_QUORUM_HOLDER_RECORD_HPP

#include "support/shared_record.hpp"

#include <holdfast/lease_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::test {

/// The resource that a lock protects. It lies in a file that several processes share, and notices
/// when somebody comes while another's lease is valid, by the one clock of the machine, or with a
/// token that is not greater than the last one.
class holder_record {
public:
    struct counts {
        std::int64_t entries;
        std::int64_t overlaps;
        std::int64_t stale_tokens;
    };

    /// Makes the file if it is not there.
    explicit holder_record(std::string const& path) : record_{path} {}

    /// Somebody acts with this token, no longer than `until`. False, and nothing happens, if that
    /// has passed.
    bool enter(std::uint64_t token, lease_clock::time_point until);
    void leave(std::uint64_t token);
    [[nodiscard]] counts read() const;

private:
    struct contents {
        counts seen;
        std::uint64_t last_token;
        std::int64_t until;
    };

    shared_record<contents> record_;
};

}  // namespace holdfast::test

#endif
