#ifndef HOLDFAST_CLI_RUN_PROCESS_TREE_HPP
#define HOLDFAST_CLI_RUN_PROCESS_TREE_HPP

#include <sys/types.h>

#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// What /proc/PID/stat says of a process.
struct process_stat {
    char state = '?';
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
    /// When it was started, in clock ticks since boot. A process id is given away again, with
    /// another time.
    unsigned long long started = 0;
};

/// Nothing if the text is none of such a file. The program's name may contain anything.
[[nodiscard]] std::optional<process_stat> read_process_stat(std::string_view text);

/// The processes that this one has started, directly or not.
///
/// Whoever loses its parent becomes a child of the nearest subreaper above (prctl(2)). So this is
/// all that a subreaper's children have started, whatever group or session it is in now.
class process_tree {
public:
    struct member {
        pid_t id;
        process_stat what;
    };

    /// Looks at /proc. Without it, the tree is empty.
    static process_tree below(pid_t root);
    /// Of all processes of a system.
    process_tree(std::vector<member> const& all, pid_t root);

    /// Takes those out that are not of this session: daemons.
    void keep_only_session(pid_t session);
    [[nodiscard]] std::vector<member> const& members() const noexcept { return members_; }
    /// One that has ended, and was not waited for, does not live.
    [[nodiscard]] bool any_alive() const noexcept;
    /// To each of them, if it is still the same process.
    void signal(int number) const;

private:
    std::vector<member> members_;
};

}  // namespace holdfast::cli

#endif
