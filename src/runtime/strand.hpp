#ifndef HOLDFAST_RUNTIME_STRAND_HPP
#define HOLDFAST_RUNTIME_STRAND_HPP

#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace holdfast::detail {

/// An eager strand of `executor`. Where that is an executor of one of Asio's own contexts, the strand is
/// made over its real type: erased twice, each handler would be allocated and queued twice.
[[nodiscard]] asio::any_io_executor make_strand_of(asio::any_io_executor const& executor);

/// Whether this thread runs a function of a strand that `make_strand_of` made.
[[nodiscard]] bool runs_here(asio::any_io_executor const& strand) noexcept;

/// What such a strand was made of. What is posted there comes after all that waits there by now.
[[nodiscard]] asio::any_io_executor inner_executor(asio::any_io_executor const& strand);

}  // namespace holdfast::detail

#endif
