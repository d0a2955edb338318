#include "runtime/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace holdfast::detail {

namespace {

using io_executor = asio::io_context::executor_type;
using pool_executor = asio::thread_pool::executor_type;

template <class Executor>
bool runs_in(asio::any_io_executor const& strand, bool& found) noexcept {
    auto const* const typed = strand.target<asio::strand<Executor>>();
    found = found || typed;
    return typed && typed->running_in_this_thread();
}

}  // namespace

asio::any_io_executor make_strand_of(asio::any_io_executor const& executor) {
    if (auto const* const io = executor.target<io_executor>()) {
        return asio::make_strand(*io);
    }
    if (auto const* const pool = executor.target<pool_executor>()) {
        return asio::make_strand(*pool);
    }
    return asio::make_strand(executor);
}

bool runs_here(asio::any_io_executor const& strand) noexcept {
    bool found = false;
    bool const here = runs_in<io_executor>(strand, found);
    if (found) {
        return here;
    }
    return runs_in<pool_executor>(strand, found) || runs_in<asio::any_io_executor>(strand, found);
}

}  // namespace holdfast::detail
