#ifndef HOLDFAST_CLI_RUN_DESCRIPTORS_HPP
#define HOLDFAST_CLI_RUN_DESCRIPTORS_HPP

#include <set>

namespace holdfast::cli {

/// The descriptors that this program was started with. A command gets those, and none that this
/// program opened: the connections to the server are nobody else's.
class inherited_descriptors {
public:
    /// Those that are open now.
    inherited_descriptors();
    /// Those that were opened since will be closed when a program is executed.
    void keep_the_others() const;

private:
    std::set<int> at_first_;
};

}  // namespace holdfast::cli

#endif
