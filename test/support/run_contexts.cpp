#include "run_contexts.hpp"

namespace holdfast::test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool run_until(
    std::initializer_list<boost::asio::io_context*> contexts,
    milliseconds limit,
    std::function<bool()> const& holds
) {
    constexpr milliseconds turn{2};
    auto const deadline = steady_clock::now() + limit;
    while (!holds()) {
        if (steady_clock::now() >= deadline) {
            return false;
        }
        for (auto* const context : contexts) {
            context->restart();
            context->run_for(turn);
        }
    }
    return true;
}

void run_for(std::initializer_list<boost::asio::io_context*> contexts, milliseconds time) {
    run_until(contexts, time, [] { return false; });
}

}  // namespace holdfast::test
