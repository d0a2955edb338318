// What does including the library cost a translation unit? Against one that only knows Asio's
// coroutines. Also: no header of Boost.Redis may be reachable.
#include "questions/questions.hpp"
#include "support/measure.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace holdfast::bench {

namespace {

constexpr auto floor_unit = HOLDFAST_BENCH_UNITS "/asio_awaitable.cpp";
constexpr auto our_unit = HOLDFAST_BENCH_UNITS "/holdfast_acquire.cpp";

std::string compile(std::vector<std::string> const& options, std::string const& unit) {
    std::vector<std::string> words;
    std::ifstream in{HOLDFAST_BENCH_COMPILER_COMMAND};
    for (std::string line; std::getline(in, line);) {
        if (!line.empty()) {
            words.push_back(line);
        }
    }
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(unit);
    test::child_process compiler{words};
    auto output = compiler.read_all(std::chrono::minutes{2});
    if (compiler.wait() != 0) {
        throw std::runtime_error{"the compiler refused " + unit};
    }
    return output;
}

// Processor time: it suffers less from others on the machine than the time on the clock.
double compile_seconds(std::string const& unit) {
    auto const before = children_cpu_seconds();
    compile({"-c", "-o", "/dev/null"}, unit);
    return children_cpu_seconds() - before;
}

double redis_headers() {
    auto const dependencies = compile({"-M"}, our_unit);
    double count = 0.0;
    for (auto at = dependencies.find("boost/redis"); at != std::string::npos;
         at = dependencies.find("boost/redis", at + 1)) {
        ++count;
    }
    return count;
}

}  // namespace

figures compile_time(environment& env) {
    // The compiler is called by its own name; this is for one that is ccache in disguise.
    ::setenv("CCACHE_DISABLE", "1", 1);
    comparison time{"compile_time", "s", {budget::kind::ratio_at_most, 3.0}};
    comparison headers{"compile_redis_headers", "headers", {budget::kind::ours_at_most, 0.0}};
    compile_seconds(floor_unit);  // the files are in memory from here on
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const floor = compile_seconds(floor_unit);
        auto const ours = compile_seconds(our_unit);
        time.add(ours, floor);
    }
    headers.add(redis_headers(), 0.0);
    return {time.result("processor time of the compiler"), headers.result()};
}

}  // namespace holdfast::bench
