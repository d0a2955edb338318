#ifndef HOLDFAST_TEST_SIMULATION_RUNTIME_HPP
#define HOLDFAST_TEST_SIMULATION_RUNTIME_HPP

// The library's runtime in virtual time: what `HOLDFAST_RUNTIME` names in the simulator's build.
// `lease_clock::now()` and `fill_from_system()` are those of the process whose handler runs.

#include "simulation/completion.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease_clock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace holdfast::sim {

class process;

struct waiting_timer : std::enable_shared_from_this<waiting_timer> {
    process* of = nullptr;
    std::chrono::nanoseconds due{0};
    std::uint64_t generation = 0;
    std::size_t place = 0;
    completion<error_code> handler;
    // Those who wait for the same, behind it.
    std::vector<completion<error_code>> others;

    void post(error_code ec) {
        auto rest = std::exchange(others, {});
        handler.post(ec);
        for (auto& one : rest) {
            one.post(ec);
        }
    }
};

}  // namespace holdfast::sim

namespace holdfast::detail {

/// As the library's timer.
class timer {
public:
    using duration = std::chrono::nanoseconds;

    explicit timer(boost::asio::any_io_executor executor);
    timer(timer&& other) noexcept;
    timer& operator=(timer&&) = delete;
    ~timer();

    void expires_after(duration after);
    std::size_t cancel();

    template <class Token>
    auto async_wait(Token&& token) {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [](auto handler, timer* self) {
                self->wait(sim::completion<error_code>{std::move(handler), self->executor_});
            },
            token,
            this
        );
    }

private:
    void wait(sim::completion<error_code> handler);

    boost::asio::any_io_executor executor_;
    std::shared_ptr<sim::waiting_timer> waiting_;
};

void fill_from_system(std::span<std::uint64_t> words);

}  // namespace holdfast::detail

#endif
