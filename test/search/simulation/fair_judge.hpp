#ifndef HOLDFAST_TEST_SIMULATION_FAIR_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_FAIR_JUDGE_HPP

#include "simulation/queue_judge.hpp"
#include "simulation/server.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::sim {

/// Whether fair locks go to those who wait in the order in which they came.
class fair_judge {
public:
    fair_judge(server& of, queue_judge& queue) : server_{of}, queue_{queue} {}

    /// Before a script that may change the queue.
    void on_before(std::string_view lock);
    void on_script(script_event const& what);

private:
    [[nodiscard]] bool listens(std::string_view lock, std::string_view holder);

    server& server_;
    queue_judge& queue_;
    std::map<std::string, bool, std::less<>> was_held_;  // before the script that runs
};

}  // namespace holdfast::sim

#endif
