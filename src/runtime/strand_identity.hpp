#ifndef HOLDFAST_RUNTIME_STRAND_IDENTITY_HPP
#define HOLDFAST_RUNTIME_STRAND_IDENTITY_HPP

#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace holdfast::detail {

/// Something that the copies of one of Asio's strands have in common, and few others: for looking
/// up what belongs to an executor. Only `==` says that two executors are the same.
/// @returns null for an executor that is not a strand, or a strand of something unusual.
[[nodiscard]] void const* strand_identity(asio::any_io_executor const& executor) noexcept;

}  // namespace holdfast::detail

#endif
