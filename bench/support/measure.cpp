#include "support/measure.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace holdfast::bench {

double process_cpu_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double children_cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_CHILDREN, &used);
    auto const seconds = [](timeval const& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::size_t resident_bytes() {
    ::malloc_trim(0);
    std::ifstream in{"/proc/self/statm"};
    std::size_t total = 0;
    std::size_t resident = 0;
    in >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

double quantile(std::vector<double> values, double part) {
    if (values.empty()) {
        return 0.0;
    }
    auto const index =
        static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5);
    auto const at = values.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

}  // namespace holdfast::bench
