#ifndef HOLDFAST_TEST_HISTORY_STORE_HPP
#define HOLDFAST_TEST_HISTORY_STORE_HPP

#include <cstdint>
#include <map>

namespace holdfast::history {

/// What the locks protect: under each lock a value that its holder reads and writes back.
///
/// An access with a smaller token than one that was accepted before is refused. Beside the value
/// runs another, which takes every write: what there would be if nobody looked at tokens.
class store {
public:
    struct view {
        bool accepted = false;
        std::int64_t value = 0;      // how many writes it has taken
        std::int64_t unguarded = 0;  // the same of the other one
    };

    /// Remembers the token, so that an older holder cannot write any more.
    view read(std::int64_t lock, std::int64_t token);

    /// Adds one to what was `seen`. Returns flags of a history: accepted, and whether the write
    /// undid another.
    std::int64_t write(std::int64_t lock, std::int64_t token, view const& seen);

private:
    struct place {
        std::int64_t last_token = 0;
        std::int64_t value = 0;
        std::int64_t unguarded = 0;
    };
    static bool accepts(place& p, std::int64_t token);

    std::map<std::int64_t, place> places_;
};

}  // namespace holdfast::history

#endif
