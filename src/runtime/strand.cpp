#include "runtime/strand.hpp"

#include "runtime/eager_strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

namespace holdfast::detail {

namespace {

using io_executor = asio::io_context::executor_type;
using pool_executor = asio::thread_pool::executor_type;

// Calls `f` with the strand as `make_strand_of` made it.
template <class F>
auto with_type(asio::any_io_executor const& strand, F f) {
    if (auto const* const of_io = strand.target<eager_strand<io_executor>>()) {
        return f(*of_io);
    }
    if (auto const* const of_pool = strand.target<eager_strand<pool_executor>>()) {
        return f(*of_pool);
    }
    return f(*strand.target<eager_strand<asio::any_io_executor>>());
}

}  // namespace

asio::any_io_executor make_strand_of(asio::any_io_executor const& executor) {
    if (auto const* const io = executor.target<io_executor>()) {
        return eager_strand{*io};
    }
    if (auto const* const pool = executor.target<pool_executor>()) {
        return eager_strand{*pool};
    }
    return eager_strand{executor};
}

bool runs_here(asio::any_io_executor const& strand) noexcept {
    return with_type(strand, [](auto const& one) { return one.running_in_this_thread(); });
}

asio::any_io_executor inner_executor(asio::any_io_executor const& strand) {
    return with_type(strand, [](auto const& one) { return asio::any_io_executor{one.inner()}; });
}

}  // namespace holdfast::detail
