#ifndef HOLDFAST_TEST_CHAOS_ELECTION_TERM_RECORD_HPP
#define HOLDFAST_TEST_CHAOS_ELECTION_TERM_RECORD_HPP

#include "support/shared_record.hpp"

#include <holdfast/lease_clock.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// What only a leader may do. It lies in a file that several processes share, and knows who has led
/// in which term, and until when the last one may act: a process that was killed leaves that
/// behind.
class term_record {
public:
    /// A term as its leader wrote it down when it began.
    struct term {
        std::uint64_t number;
        std::int64_t process;
        std::int64_t began;

        [[nodiscard]] lease_clock::time_point begin() const {
            return lease_clock::time_point{lease_clock::duration{began}};
        }
    };

    /// Makes the file if it is not there.
    explicit term_record(std::string const& path) : record_{path} {}

    /// This process leads from now on.
    void begin(std::int64_t process, std::uint64_t number);
    /// It acts, and may until then.
    void act(std::uint64_t number, lease_clock::time_point until);
    /// It acts no more.
    void end(std::uint64_t number);

    [[nodiscard]] std::vector<term> terms() const;
    [[nodiscard]] std::optional<term> last() const;
    /// How often one acted while another one might, or with an older term than one before.
    [[nodiscard]] std::int64_t intrusions() const;

private:
    struct contents {
        std::uint64_t number;
        std::int64_t until;
        std::int64_t intrusions;
        std::int64_t count;
        std::array<term, 1024> terms;
    };

    shared_record<contents> record_;
};

}  // namespace holdfast::test

#endif
