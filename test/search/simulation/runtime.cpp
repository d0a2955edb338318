#include "runtime/runtime.hpp"

#include "simulation/world.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/query.hpp>

namespace holdfast {

lease_clock::time_point lease_clock::now() noexcept {
    // What a test still has in its hands when all is over, belongs to nobody's time.
    auto const* const here = sim::world::current().running();
    return here ? time_point{here->clock()} : time_point{};
}

namespace detail {

namespace {

sim::process& process_of(boost::asio::any_io_executor const& executor) {
    return static_cast<sim::process&>(boost::asio::query(executor, boost::asio::execution::context)
    );
}

std::shared_ptr<sim::waiting_timer> make_waiting() {
    sim::own_business const own;
    return std::make_shared<sim::waiting_timer>();
}

}  // namespace

void fill_from_system(std::span<std::uint64_t> words) {
    for (auto& word : words) {
        word = sim::world::current().dice().next();
    }
}

timer::timer(boost::asio::any_io_executor executor)
    : executor_{std::move(executor)},
      waiting_{make_waiting()} {
    waiting_->of = &process_of(executor_);
    waiting_->due = waiting_->of->steady();
}

timer::timer(timer&& other) noexcept = default;

timer::~timer() {
    if (waiting_) {
        cancel();
    }
}

void timer::expires_after(duration after) {
    cancel();
    waiting_->due = waiting_->of->steady() + after;
}

std::size_t timer::cancel() {
    if (!waiting_->handler) {
        return 0;
    }
    sim::own_business const own;
    waiting_->of->remove(*waiting_);
    ++waiting_->generation;
    auto const waits = 1 + waiting_->others.size();
    waiting_->post(boost::asio::error::operation_aborted);
    return waits;
}

void timer::wait(sim::completion<error_code> handler) {
    if (waiting_->handler) {
        sim::own_business const own;
        waiting_->others.push_back(std::move(handler));
        return;
    }
    waiting_->handler = std::move(handler);
    waiting_->of->add(*waiting_);
    waiting_->of->arm(waiting_);
}

}  // namespace detail
}  // namespace holdfast
