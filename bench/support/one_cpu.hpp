#ifndef HOLDFAST_BENCH_SUPPORT_ONE_CPU_HPP
#define HOLDFAST_BENCH_SUPPORT_ONE_CPU_HPP

#include <sched.h>
#include <sys/types.h>

#include <utility>
#include <vector>

namespace holdfast::bench {

/// Keeps this process, and another one, on one CPU for as long as it lives. Processes that they
/// start in the meantime inherit that.
///
/// A virtual machine wakes another of its CPUs by way of the hypervisor, which takes hundreds of
/// microseconds: a latency between two CPUs says little about the programs.
class one_cpu {
public:
    /// Throws `std::system_error`.
    explicit one_cpu(pid_t other);
    one_cpu(one_cpu const&) = delete;
    one_cpu& operator=(one_cpu const&) = delete;
    ~one_cpu();

    /// The one it takes: the last that this process may use.
    [[nodiscard]] static int chosen();

private:
    std::vector<std::pair<pid_t, cpu_set_t>> before_;  // of each thread
};

}  // namespace holdfast::bench

#endif
