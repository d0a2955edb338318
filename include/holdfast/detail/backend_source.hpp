#ifndef HOLDFAST_DETAIL_BACKEND_SOURCE_HPP
#define HOLDFAST_DETAIL_BACKEND_SOURCE_HPP

#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace holdfast::detail {

class backend;
struct counters;

/// Where a client gets a server from that has no address: see `testing::memory_server`.
class HOLDFAST_EXPORT backend_source {
public:
    /// What one client asks. `strand` is one of `executor`, which the client was given.
    [[nodiscard]] virtual std::unique_ptr<backend> make_backend(
        asio::any_io_executor executor,
        asio::any_io_executor strand,
        std::shared_ptr<counters> count
    ) = 0;

protected:
    backend_source() = default;
    backend_source(backend_source const&) = default;
    backend_source& operator=(backend_source const&) = default;
    ~backend_source() = default;
};

}  // namespace holdfast::detail

#endif
