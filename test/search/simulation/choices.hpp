#ifndef HOLDFAST_TEST_SIMULATION_CHOICES_HPP
#define HOLDFAST_TEST_SIMULATION_CHOICES_HPP

#include <cstddef>

namespace holdfast::sim {

/// What a world can go on with in more than one way.
enum class choice {
    lane,   // which thread of a process runs next
    event,  // which of the events that are due happens first
    delay,  // whether a message is slow
    late,   // what becomes of the bytes of a connection that was closed
    start,  // when something begins
    fault,  // whether something goes wrong now
};

/// Takes a world's decisions in the place of its dice.
class choices {
public:
    /// One of 0 … n - 1; 0 is what happens by default. `n` is at least 2.
    virtual std::size_t choose(std::size_t n, choice what) = 0;

protected:
    ~choices() = default;
};

}  // namespace holdfast::sim

#endif
