#include "run_contexts.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

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

bool run_and_destroy(boost::asio::io_context& beside, holder const& hold, bool at_once) {
    boost::asio::io_context holders;
    bool held = false;
    boost::asio::co_spawn(holders, hold(held), boost::asio::detached);
    bool const came = run_until({&beside, &holders}, std::chrono::seconds{5}, [&] { return held; });
    if (!at_once) {
        run_for({&beside, &holders}, milliseconds{60});
    }
    return came;
}

}  // namespace holdfast::test
