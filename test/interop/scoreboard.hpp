#ifndef HOLDFAST_TEST_INTEROP_SCOREBOARD_HPP
#define HOLDFAST_TEST_INTEROP_SCOREBOARD_HPP

#include <compare>
#include <map>
#include <string>

namespace holdfast::test {

/// How many checks passed and failed, by what they are about; printed when the program ends.
class scoreboard {
public:
    struct line {
        std::string primitive;
        std::string version;
        std::string direction;
        auto operator<=>(line const&) const = default;
    };

    static scoreboard& of_this_run();

    void add(line const& about, bool passed);
    void print() const;

private:
    struct score {
        int passed = 0;
        int failed = 0;
    };

    std::map<line, score> scores_;
};

}  // namespace holdfast::test

#endif
